package e2e

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"kubelet14/api/unittest"
	"kubelet14/kubelet/e2e/hosttest"
)

var besidePods = flag.String("pods", "1,20,100", "numbers of pods for BenchmarkBeside")

// BenchmarkBeside runs the same pods by bare Docker calls, kubelet14, docker compose and podman kube play, in turn, and prints
// the table of docs/numbers.md.
func BenchmarkBeside(b *testing.B) {
	if err := errors.Join(missing("docker", "compose", "version"), missing("podman", "version")); err != nil {
		b.Skipf("make bench-beside brings what this needs: %v", err)
	}
	if os.Getuid() != 0 {
		b.Skip("only root may kill the processes of containers")
	}
	var counts []int
	for text := range strings.SplitSeq(*besidePods, ",") {
		count, err := strconv.Atoi(text)
		unittest.Must(b, err)
		counts = append(counts, count)
	}
	s := newStage(b)
	sides := []side{newBareSide(s), newKubeletSide(s), newComposeSide(s, false), newComposeSide(s, true), newPodmanSide(s)}
	took := samples{}
	for range b.N {
		for i := range sides { // the first start makes networks and caches, and the kubelet's the image of network containers
			s.round(sides[(1+i)%len(sides)], 1, samples{})
		}
		for _, count := range counts {
			for round := range max(1, min(10, 60/count)) { // many pods are a mean by themselves
				for i := range sides { // no side always comes first
					s.round(sides[(round+i)%len(sides)], count, took)
				}
			}
		}
		for _, side := range sides {
			s.repair(side, min(10, slices.Max(counts)), took)
		}
	}
	b.Log(took)
	printTable(os.Stdout, s, sides, counts, took)
	sides[1].(*kubeletSide).printIdle(os.Stdout, slices.Max(counts))
	b.ReportMetric(0, "ns/op")
}

func missing(command ...string) error {
	out, err := exec.Command(command[0], command[1:]...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w %s", strings.Join(command, " "), err, out)
	}
	return nil
}

// side is one way to run pods. Start, edit and stop return when its command has ended. The kubelet has none: there they return when
// Docker has started or removed the containers.
type side interface {
	name() string
	start(pods []string)
	edit(pods []string) // gives a variable of each pod another value
	stop(pods []string)
	pid(pod string) int // of the pod's program; 0 if nobody starts it again
}

// stage is what the sides share: the pods note in a directory that their programs run.
type stage struct {
	b       *testing.B
	host    *host
	dir     string // has a file for each pod whose program has begun
	edition int    // the value of the pods' variable
}

func newStage(b *testing.B) *stage {
	hosttest.Prepare(b)
	client, err := hosttest.Connect("")
	unittest.Must(b, err)
	network := hosttest.MakeNetwork(b, client, "beside") // before the host, whose containers go first
	h := newHost(b)
	h.Network = network.Name
	return &stage{b: b, host: h, dir: b.TempDir()}
}

// podNames returns names that no pod of somebody else should have: podman knows pods by these alone.
func podNames(count int) (pods []string) {
	for i := range count {
		pods = append(pods, fmt.Sprint("kubelet14-beside-", i))
	}
	return pods
}

// round starts, edits and stops some pods of a side.
func (s *stage) round(side side, count int, took samples) {
	pods := podNames(count)
	s.edition++
	took.add(key(side, "start", count), s.untilBegun(count, func() { side.start(pods) }))
	s.edition++
	took.add(key(side, "edit", count), s.untilBegun(count, func() { side.edit(pods) }))
	began := time.Now()
	side.stop(pods)
	took.add(key(side, "stop", count), time.Since(began))
}

func key(side side, action string, count int) string {
	return fmt.Sprintf("%s %d %s", action, count, side.name())
}

// untilBegun returns how long it takes until the programs of all pods run, which start anew, and returns when do has ended too.
func (s *stage) untilBegun(count int, do func()) time.Duration {
	s.b.Helper()
	old, err := os.ReadDir(s.dir)
	unittest.Must(s.b, err)
	for _, file := range old {
		unittest.Must(s.b, os.Remove(s.dir+"/"+file.Name()))
	}
	begun := make(chan time.Duration, 1)
	began := time.Now()
	go func() {
		for deadline := began.Add(unittest.Limit()); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
			if files, _ := os.ReadDir(s.dir); len(files) >= count {
				begun <- time.Since(began)
				return
			}
		}
		close(begun)
	}()
	do()
	if s.b.Failed() {
		s.b.FailNow() // of the bare calls
	}
	took, ok := <-begun
	if !ok {
		s.b.Fatal("the programs of the pods do not begin")
	}
	return took
}

// repair kills the program of one pod after the other, once each, so no back-off counts.
func (s *stage) repair(side side, count int, took samples) {
	pods := podNames(count)
	s.edition++
	s.untilBegun(count, func() { side.start(pods) })
	time.Sleep(2 * time.Second) // until the work of the start is done
	for _, pod := range pods {
		pid := side.pid(pod)
		if pid == 0 {
			break
		}
		took.add(key(side, "repair", 1), s.untilBegun(1, func() {
			process, err := os.FindProcess(pid)
			unittest.Must(s.b, err, process.Kill())
		}))
	}
	side.stop(pods)
}

// printTable prints medians: seconds for the first side, and ratios to it for the others.
func printTable(w io.Writer, s *stage, sides []side, counts []int, took samples) {
	fmt.Fprintf(w, "%d cores, Linux %s, Docker %s, %s, docker compose %s\n\n", runtime.NumCPU(), s.run("uname", "-r"),
		s.run("docker", "version", "--format", "{{.Server.Version}}"), s.run("podman", "--version"), s.run("docker", "compose", "version", "--short"))
	fmt.Fprint(w, "| |")
	for _, side := range sides {
		fmt.Fprintf(w, " %s |", side.name())
	}
	fmt.Fprintf(w, "\n|%s\n", strings.Repeat("---|", len(sides)+1))
	for _, action := range []string{"start", "edit", "stop"} {
		for _, count := range counts {
			fmt.Fprintf(w, "| %s, %d |", action, count)
			bare := took.median(key(sides[0], action, count))
			fmt.Fprintf(w, " %.2f s |", bare)
			for _, side := range sides[1:] {
				fmt.Fprintf(w, " %.2f |", took.median(key(side, action, count))/bare)
			}
			fmt.Fprintln(w)
		}
	}
	fmt.Fprint(w, "| killed, until it runs again |")
	for _, side := range sides {
		if repair := key(side, "repair", 1); len(took[repair]) == 0 {
			fmt.Fprint(w, " never |")
		} else {
			fmt.Fprintf(w, " %.2f s |", took.median(repair))
		}
	}
	fmt.Fprintln(w)
}
