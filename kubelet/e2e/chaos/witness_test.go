//go:build chaos

package chaos

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"kubelet14/api/unittest"
)

// witness listens to Docker's events and to the journal of the containers, and compares them with what the operations
// allow. It asks Docker nothing but whether a network container still runs.
type witness struct {
	table
	out   io.Writer
	seed  uint64
	began time.Time

	mu      sync.Mutex
	allowed map[string]int    // starts that nothing has used, by pod/container; see newRound
	excused map[string]bool   // of these a person may have made doubles or any number of starts, in this round
	anew    map[string]bool   // pods whose data may begin anew, in this round
	ids     map[string]bool   // containers that Docker restarts by itself, since a person said so
	known   map[string]*pod   // every pod of Docker that was ever wanted
	counts  map[string]int    // the last count of a container's starts in its volume
	version map[string]string // of its last start
	nets    map[string]string // the network container that has started last, by pod
	recent  []string          // the last lines
}

// newWitness begins to listen.
func newWitness(t *testing.T, seed uint64, socket, journal string) *witness {
	w := &witness{
		out: t.Output(), seed: seed, began: time.Now(), allowed: map[string]int{}, excused: map[string]bool{}, anew: map[string]bool{},
		ids: map[string]bool{}, known: map[string]*pod{}, counts: map[string]int{}, version: map[string]string{}, nets: map[string]string{},
	}
	ctx, cancel := context.WithCancel(context.Background())
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}}}
	file, err := os.OpenFile(filepath.Join(journal, "journal"), os.O_RDONLY|os.O_CREATE, 0o666)
	unittest.Must(t, err, os.Chmod(file.Name(), 0o666))
	var listening sync.WaitGroup
	listening.Go(func() { w.readEvents(ctx, client) })
	listening.Go(func() { w.readJournal(ctx, file) })
	t.Cleanup(func() {
		cancel()
		listening.Wait()
		file.Close()
	})
	return w
}

// readJournal reads what the containers write.
func (w *witness) readJournal(ctx context.Context, file *os.File) {
	lines := bufio.NewReader(file)
	part := ""
	for ctx.Err() == nil {
		text, err := lines.ReadString('\n')
		if part += text; err != nil {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		if fields := strings.Fields(part); len(fields) > 2 {
			w.wrote(fields[1], fields[2], fields[3:])
		}
		part = ""
	}
}

// wrote checks a line of the journal.
func (w *witness) wrote(name, what string, more []string) {
	podName, of, _ := strings.Cut(name, "/")
	w.mu.Lock()
	defer w.mu.Unlock()
	w.note("journal: %s %s %s", name, what, strings.Join(more, " "))
	p := w.known[podName]
	if p == nil {
		return // a stranger
	}
	switch what {
	case "double":
		if !w.excused[name] {
			w.doubles++
			w.violateLocked(podName, "two live containers %s", name)
		}
	case "start":
		w.started(p, podName, of, more)
	}
}

// started checks a start.
func (w *witness) started(p *pod, podName, of string, more []string) {
	name := podName + "/" + of
	w.starts++
	again := p.crashes(of) // which a calm does not wait for
	switch {
	case w.allowed[name] > 0:
		w.allowed[name]--
	case w.excused[name], again:
	default:
		w.needless++
		w.violateLocked(podName, "%s has started although nothing was done to it", name)
	}
	w.version[name] = more[0]
	count, err := strconv.Atoi(more[1])
	if err != nil { // it counts nothing, or the disk is full
		if w.anew[podName] && !p.kind.keeps {
			delete(w.counts, name)
		}
		return
	}
	if count <= w.counts[name] && (p.kind.keeps || !w.anew[podName]) {
		w.losses++
		w.violateLocked(podName, "the volume of %s has %d starts, and had %d", name, count, w.counts[name])
	}
	w.counts[name] = count
}

// readEvents follows Docker's events, also over its restarts.
func (w *witness) readEvents(ctx context.Context, client *http.Client) {
	since := time.Now()
	for ctx.Err() == nil {
		url := fmt.Sprintf("http://docker/events?since=%d.%09d&filters={\"type\":[\"container\"]}", since.Unix(), since.Nanosecond()+1)
		req, _ := http.NewRequestWithContext(ctx, "GET", url, nil)
		resp, err := client.Do(req)
		if err != nil {
			time.Sleep(50 * time.Millisecond)
			continue
		}
		events := json.NewDecoder(resp.Body)
		for {
			var e struct {
				Action string
				Actor  struct {
					ID         string
					Attributes map[string]string
				}
				TimeNano int64
			}
			if events.Decode(&e) != nil {
				break
			}
			since = time.Unix(0, e.TimeNano)
			w.happened(ctx, client, e.Actor.ID, e.Actor.Attributes["name"], e.Action)
		}
		resp.Body.Close()
	}
}

// happened checks an event: a network container starts only when the one before it has ended.
func (w *witness) happened(ctx context.Context, client *http.Client, id, name, action string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !strings.HasPrefix(action, "exec_") {
		w.note("docker: %s %s %.8s", action, name, id)
	}
	if action == "create" {
		w.made++
	}
	parts := strings.Split(name, "_")
	if action != "start" || len(parts) != 5 || !strings.HasPrefix(parts[1], "net.") {
		return
	}
	podName, _, _ := strings.Cut(parts[2], ".")
	before := w.nets[podName]
	w.nets[podName] = id
	if before == "" || before == id || w.excused[podName+"/net"] {
		return
	}
	req, _ := http.NewRequestWithContext(ctx, "GET", "http://docker/containers/"+before+"/json", nil)
	if resp, err := client.Do(req); err == nil {
		defer resp.Body.Close()
		var c struct{ State struct{ Running bool } }
		if json.NewDecoder(resp.Body).Decode(&c); c.State.Running {
			w.doubles++
			w.violateLocked(podName, "two live network containers of %s: %.12s and %.12s", podName, before, id)
		}
	}
}

// operation notes an operation.
func (w *witness) operation(op operation) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.operations++
	if !slices.Contains(edits, op.what) {
		w.faults++
	}
	w.note("operation: %s", op)
}

func (w *witness) say(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.note(format, args...)
}

func (w *witness) allow(pod string, starts int, containers ...string) {
	for _, of := range containers {
		w.allowed[pod+"/"+of] += starts
	}
}

// allowAll allows starts of all containers of a pod, which is known from then on.
func (w *witness) allowAll(p *pod, starts int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, name := range p.names() {
		w.known[name] = p
		w.allow(name, starts, p.containers()...)
	}
}

// allowEdit allows what an edit of the container "main" leads to.
func (w *witness) allowEdit(p *pod) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, name := range p.names() {
		if w.known[name] = p; p.kind.policy != "Never" {
			w.allow(name, 1, "main")
		}
	}
}

// allowScale allows the starts of new replicas.
func (w *witness) allowScale(before, after *pod) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, name := range after.names() {
		if w.known[name] = after; i >= before.replicas {
			w.allow(name, 1, after.containers()...)
			w.beginsAnew(after, name)
		}
	}
	for i, name := range before.names() {
		if i >= after.replicas {
			w.beginsAnew(before, name)
		}
	}
}

// beginsAnew notes that the data of one of the pods of a manifest is not wanted: the next count of starts may be any.
func (w *witness) beginsAnew(p *pod, name string) {
	if w.anew[name] = true; p.kind.keeps {
		return
	}
	for _, of := range p.containers() {
		delete(w.counts, name+"/"+of)
	}
}

// removed notes that a pod, and so its data, is not wanted.
func (w *witness) removed(p *pod) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, name := range p.names() {
		w.beginsAnew(p, name)
	}
}

// allowPerson allows what a person does to a container.
func (w *witness) allowPerson(op operation, p *pod, id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	affected := []string{op.of}
	if op.of == "net" {
		affected = append(p.containers(), "net")
	}
	once := p.kind.policy == "Never"
	switch op.what {
	case "kill", "stop":
		if !once {
			w.allow(op.pod, 1, affected...)
		}
	case "rm": // what Docker has forgotten has not run
		if !once || op.of != "net" {
			w.allow(op.pod, 1, affected...)
		}
	case "restart":
		w.excused[op.pod+"/"+op.of] = true
		if once {
			w.allow(op.pod, 1, op.of) // by Docker
		} else {
			w.allow(op.pod, 2, affected...)
		}
	case "update":
		w.ids[id] = true
		for _, of := range affected {
			w.excused[op.pod+"/"+of] = true
		}
	}
}

// updated returns the containers that Docker restarts by itself.
func (w *witness) updated() map[string]bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.ids)
}

// dockerEnds allows one more start of everything.
func (w *witness) dockerEnds(pods map[string]*pod) {
	for _, p := range pods {
		if p.kind.policy != "Never" {
			w.allowAll(p, 1)
		}
	}
}

// newRound forgets what was allowed and not used, but not of pods that are never restarted: no calm waits for their starts.
func (w *witness) newRound() {
	w.mu.Lock()
	defer w.mu.Unlock()
	maps.DeleteFunc(w.allowed, func(name string, _ int) bool {
		podName, _, _ := strings.Cut(name, "/")
		return w.known[podName].kind.policy != "Never"
	})
	clear(w.excused)
	clear(w.anew)
	clear(w.ids)
}
