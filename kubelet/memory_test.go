package kubelet

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"kubelet14/kubelet/dockertools/dockertest"
	"kubelet14/kubelet/trace"
)

// weights has the bytes that a value refers to, by the path of the slice, map or text.
type weights struct {
	bytes map[string]int
	seen  map[[2]any]bool // addresses and types
}

// weigh returns the weights of what v points to. It stops at interfaces, functions and channels, which belong to
// somebody else.
func weigh(v any) map[string]int {
	w := weights{map[string]int{}, map[[2]any]bool{}}
	w.add("", reflect.ValueOf(v))
	return w.bytes
}

func (w *weights) add(path string, v reflect.Value) {
	switch at := [2]any{}; v.Kind() {
	case reflect.Pointer:
		if at = [2]any{v.Pointer(), v.Type()}; !v.IsNil() && !w.seen[at] {
			w.seen[at] = true
			w.add(path, v.Elem())
		}
	case reflect.Struct:
		for f, field := range v.Fields() {
			w.add(path+"."+f.Name, field)
		}
	case reflect.Slice:
		w.bytes[path] += v.Len() * int(v.Type().Elem().Size())
		for i := range v.Len() {
			w.add(path, v.Index(i))
		}
	case reflect.Map:
		for key, value := range v.Seq2() {
			w.bytes[path] += int(key.Type().Size() + value.Type().Size())
			w.add(path, key)
			w.add(path, value)
		}
	case reflect.String:
		w.bytes[path] += v.Len()
	}
}

// Pods with new names and images come, crash, are edited and go, and the memory of the kubelet does not grow.
func TestWhatIsGoneIsForgotten(t *testing.T) {
	inWorld(t, func(w *world) {
		w.program = func(name string) dockertest.Program { return dockertest.Program{Exits: name == "crash", ExitCode: 3} }
		_, k := traced(w, pod("stays", "main"))
		var before map[string]int
		for generation := range 4 {
			name := func(what string) string { return fmt.Sprint(what, generation) }
			image, stays := name("image")+":1", pod("stays", "main")
			w.docker.AddRemoteImage(image, dockertest.RemoteImage{Takes: time.Second})
			k.set(stays, pod(name("a"), "crash:1", "main"), ofImage(pod(name("b"), "main"), image, ""), ofImage(pod(name("c"), "main"), name("missing")+":1", ""))
			wait(time.Minute)
			k.set(stays, pod(name("a"), "crash:2", "main"), ofImage(pod(name("b"), "main"), name("missing")+":2", ""))
			wait(time.Minute)
			k.set(stays)
			k.kl.observer.RecordSignal(name("removed")) // by an event that comes late
			wait(time.Hour)
			after := weigh(k.kl)
			for path, bytes := range after {
				bounded := strings.HasPrefix(path, ".events.last") || strings.HasPrefix(path, ".opts.Trace.last")
				if generation >= 2 && bytes != before[path] && !bounded {
					t.Errorf("%s has %d bytes in generation %d, and %d in the one before", path, bytes, generation, before[path])
				}
			}
			before = after
		}
	})
}

// A hundred pods are edited again and again.
func TestTheTraceIsBounded(t *testing.T) {
	tr := &trace.Trace{}
	row := trace.Row{Container: strings.Repeat("x", 1000)}
	for range 30 {
		for i := range 100 {
			for _, kind := range []trace.Kind{trace.Apply, trace.Plan, trace.Wait, trace.Idle} {
				row.Desired = fmt.Sprint(kind)
				tr.Add(trace.Event{Kind: kind, Pod: fmt.Sprint("p", i), Rows: []trace.Row{row, row, row}})
			}
		}
		tr.Synced()
	}
	total := 0
	for _, bytes := range weigh(tr) {
		total += bytes
	}
	if n := len(tr.Changes()); n < 3 || total > 3<<20 {
		t.Errorf("%d changes take %d bytes", n, total)
	}
	// Pods that come and go while Docker is down: no sync sees them.
	for i := range 1000 {
		tr.Add(trace.Event{Kind: trace.Apply, Pod: fmt.Sprint("q", i), Rows: []trace.Row{row}})
		tr.Add(trace.Event{Kind: trace.Apply, Pod: fmt.Sprint("q", i)})
		if tr.Follows(fmt.Sprint("q", i)) {
			t.Fatal("a pod that no sync will see is followed")
		}
	}
}
