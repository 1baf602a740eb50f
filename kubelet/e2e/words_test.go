package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"kubelet14/api/unittest"
	"kubelet14/kubelet/e2e/hosttest"
)

// A namespace of processes stands for a host without a kubelet, which then has one, and two.
func TestIntegrationWordsFindTheKubelet(t *testing.T) {
	t.Parallel()
	one, two := newHost(t), newHost(t)
	one.WriteSleepers("one")
	two.WriteSleepers("two")
	start := func(h *host) string {
		return strings.Join(h.Command("-config=manifests").Args, " ") // from its own directory
	}
	script := fmt.Sprintf(`
kubelet14() { %s "$@" 2>&1; echo "exit code $?"; }
until_up() { until kubelet14 ps -o name "$@" | grep "exit code 0"; do sleep 0.1; done; }
kubelet14 ps
(cd %s; exec %s) >/dev/null 2>%[2]s/log & first=$!
until_up
kubelet14 ps -o name
kubelet14 diff 2>/dev/null
(cd %[4]s; exec %s) >/dev/null 2>%[4]s/log &
until_up -root_dir=%s
kubelet14 logs two
kubelet14 describe two -root_dir=%[6]s
kill -9 $first; wait $first
kubelet14 ps -o name
`, one.Binary, one.Dir, start(one), two.Dir, start(two), two.RootDir)
	ctx, cancel := context.WithTimeout(t.Context(), unittest.Limit())
	defer cancel()
	cmd := exec.CommandContext(ctx, "unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child", "--mount-proc", "bash", "-c", script)
	cmd.Dir = "/"
	out, err := cmd.Output()
	unittest.Says(t, string(out), "-root_dir="+one.RootDir+" (pid ", "-root_dir="+two.RootDir+" (pid ")
	rest := string(out)
	for _, want := range []string{
		"no kubelet14 runs on this host as root or as you: kubelet14 -config=DIRECTORY starts one\nexit code 1\n", "exit code 0\n",
		"one.default.file\nexit code 0\n",
		"pod one.default.file (" + one.Manifests + "/one.yaml)\n  is as it should be\nexit code 0\n",
		"2 kubelets run on this host: say which by its -root_dir\n  -root_dir=", "\n  -root_dir=", "exit code 1\n",
		"Pod:       two.default.file", "Manifest:  " + two.Manifests + "/two.yaml", "started", "exit code 0\n",
		"two.default.file\nexit code 0\n",
	} {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Fatalf("%v; %q is missing in the rest of\n%s\nwhich is\n%s", err, want, out, rest)
		}
		rest = after
	}
}

// Two containers are followed over the kill of one, until a signal, and until the kubelet ends.
func TestIntegrationLogsAreFollowed(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.Write("web", strings.ReplaceAll(hosttest.TwoContainers("web"), "/hello, sleep", `/hello, flood, -lines, "1000000", -every, 100ms`))
	p := h.Start()
	p.AwaitUp("web")
	follow := func(args ...string) (cmd *exec.Cmd, stdout, stderr *hosttest.Buffer) {
		stdout, stderr = &hosttest.Buffer{}, &hosttest.Buffer{}
		cmd = h.Command(append([]string{"logs", "web", "-f"}, args...)...)
		cmd.Stdout, cmd.Stderr = stdout, stderr
		h.Must(cmd.Start())
		t.Cleanup(func() { cmd.Process.Kill() })
		return cmd, stdout, stderr
	}
	cmd, stdout, stderr := follow()
	lines := func(stdout *hosttest.Buffer, words ...string) {
		t.Helper()
		h.Await(fmt.Sprintf("the log has %q", words), func() error {
			if err := unittest.HasWords(stdout.String(), words...); err != nil {
				return fmt.Errorf("%w; %s", err, stderr)
			}
			return nil
		})
	}
	lines(stdout, "main | 1 x", "main | 2 x", "side | 1 x")
	h.AwaitReplaced(h.Kill("web", "main"))
	h.Await("the next attempt is followed too", func() error {
		if n := strings.Count(stdout.String(), "main | 1 x"); n != 2 {
			return fmt.Errorf("%d attempts of main", n)
		}
		return nil
	})
	h.Must(cmd.Process.Signal(os.Interrupt))
	if err := cmd.Wait(); err != nil || strings.Count(stdout.String(), "side | 1 x") != 1 || stderr.String() != "" {
		t.Errorf("after a signal it ends with %v, and %q", err, stderr)
	}

	for name, end := range map[string]func(){"SIGKILL": func() { p.Kill() }, "SIGTERM": func() { p.Stop() }} {
		if !p.Running() {
			p = h.Start()
			p.AwaitUp("web")
		}
		cmd, stdout, stderr := follow("--tail", "1", "-c", "side")
		h.Await("it prints", func() error {
			if strings.Count(stdout.String(), "\n") < 2 {
				return errors.New("it has no two lines")
			}
			return nil
		})
		end()
		cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(stderr.String(), "the kubelet has ended") || strings.Contains(stdout.String(), "|") {
			t.Errorf("%s: it ends with %d and %q", name, code, stderr)
		}
	}
	h.Run("logs", "web").MustExit(t, 1, "no kubelet answers")
}

// In a terminal the table is drawn anew.
func TestIntegrationPsInATerminal(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.WriteSleepers("web")
	h.Start().AwaitUp("web")
	terminal, screen := newTerminal(t)
	cmd := h.Command("ps", "-w")
	cmd.Stdout, cmd.Stderr = terminal, terminal
	h.Must(cmd.Start())
	h.Await("it prints the pod", func() error {
		return unittest.HasWords(screen.String(), "\x1b[H\x1b[2J", "web.default.file  running  yes")
	})
	h.Kill("web", "main")
	h.Await("it prints the restart", func() error {
		last := screen.String()
		last = last[strings.LastIndex(last, "\x1b[2J"):]
		fields := strings.Fields(strings.Join(strings.Split(last, "main")[1:], ""))
		if len(fields) < 3 || fields[2] != "1" {
			return fmt.Errorf("it is %q", last)
		}
		return nil
	})
	h.Must(cmd.Process.Signal(syscall.SIGINT))
	defer time.AfterFunc(unittest.Limit(), func() { cmd.Process.Kill() }).Stop()
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ends with %v", err)
	}
}
