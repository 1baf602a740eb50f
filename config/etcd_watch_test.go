package config

import (
	"context"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"kubelet14/api/unittest"
	"kubelet14/config/etcdtest"
)

// wire is between a source and etcd.
type wire struct {
	mu      sync.Mutex
	lists   []time.Time // of the requests
	values  []int       // in each answer that had any
	answers int         // of the watch
	cut     error       // ends the watch at its next message
	streams []*stream   // of all watches
	held    string      // calls of this method get no answer
	logins  int
}

// stream is one watch.
type stream struct {
	grpc.ClientStream
	wire  *wire
	muted bool // all messages are lost
}

func (w *wire) locked(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
}

func (s *stream) RecvMsg(message any) (err error) {
	for lost := true; lost && err == nil; {
		err = s.ClientStream.RecvMsg(message)
		s.wire.locked(func() {
			lost = s.muted
			s.wire.answers++
			if err == nil {
				err, s.wire.cut = s.wire.cut, nil
			}
		})
	}
	return err
}

// tap puts a wire before the etcd of a source.
func tap(source *SourceEtcd) *wire {
	w := &wire{}
	source.etcd.config.DialOptions = append(source.etcd.config.DialOptions,
		grpc.WithChainUnaryInterceptor(func(ctx context.Context, method string, request, reply any,
			conn *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption,
		) error {
			begin, held := time.Now(), true
			w.locked(func() {
				if path.Base(method) == "Authenticate" {
					w.logins++
				}
			})
			for held && ctx.Err() == nil {
				time.Sleep(time.Millisecond)
				w.locked(func() { held = w.held == path.Base(method) })
			}
			err := invoke(ctx, method, request, reply, conn, options...)
			w.locked(func() {
				if answer, ok := reply.(*etcdserverpb.RangeResponse); ok {
					w.lists = append(w.lists, begin)
					if len(answer.Kvs) > 0 {
						w.values = append(w.values, len(answer.Kvs))
					}
				}
			})
			return err
		}),
		grpc.WithChainStreamInterceptor(func(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string,
			open grpc.Streamer, options ...grpc.CallOption,
		) (grpc.ClientStream, error) {
			inner, err := open(ctx, desc, conn, method, options...)
			s := &stream{ClientStream: inner, wire: w}
			w.locked(func() { w.streams = append(w.streams, s) })
			return s, err
		}))
	return w
}

// awaitLists waits for ten more lists.
func (w *wire) awaitLists(r *run) {
	r.t.Helper()
	var before, now int
	w.locked(func() { before = len(w.lists) })
	r.awaitThat(func() string {
		w.locked(func() { now = len(w.lists) })
		if now < before+10 {
			return "no lists"
		}
		return ""
	})
}

func TestEtcdListSendsWhatHasChanged(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	for _, pod := range []string{"a", "b", "c"} {
		s.Ctl("put", etcdPods+pod, manifest("", "1"))
	}
	source := newEtcdSource(t, frequently, "", s.Endpoint())
	source.silence, source.patience = time.Hour, time.Hour
	w, r := tap(source), runSource(t, source)
	r.await("a=1 b=1 c=1")
	w.awaitLists(r)
	s.Ctl("put", etcdPods+"b", manifest("", "2"))
	r.await("a=1 b=2 c=1")
	s.Ctl("del", etcdPods+"a")
	r.await("b=2 c=1")
	_, err := s.Client().Txn(t.Context()).Then(clientv3.OpDelete(etcdPods+"c"), clientv3.OpPut(etcdPods+"d", manifest("", "1"))).Commit()
	unittest.Must(t, err)
	r.await("b=2 d=1")
	s.Ctl("put", etcdList+"-2/x", manifest("other", "1"))
	s.Ctl("put", "/elsewhere", "1")
	w.awaitLists(r)
	w.locked(func() {
		if want := []int{3, 1, 2, 1, 2, 1}; !slices.Equal(w.values, want) {
			t.Errorf("lists sent %d values, want %d", w.values, want)
		}
		var gaps []time.Duration
		for i := range w.lists[1:] {
			gaps = append(gaps, w.lists[i+1].Sub(w.lists[i]))
		}
		if spread := slices.Max(gaps[:9]) - slices.Min(gaps[:9]); spread < frequently/5 {
			t.Errorf("polls are in step: %v", gaps)
		}
	})
}

// awaitWatch waits for the next answer of the watch. In these tests the source notices edits by nothing else.
func (w *wire) awaitWatch(r *run) {
	r.t.Helper()
	w.locked(func() { w.answers = 0 })
	r.awaitThat(func() (problem string) {
		w.locked(func() {
			if w.answers == 0 {
				problem = "the watch is not asked"
			}
		})
		return problem
	})
}

// watchedWeb starts an etcd with the pod web and a source that has read it and watches.
func watchedWeb(t *testing.T, silence time.Duration) (*etcdtest.Server, *wire, *run) {
	t.Helper()
	s := etcdtest.Start(t)
	s.Ctl("put", etcdPods+"web", manifest("", "1"))
	source := newEtcdSource(t, hourly, "", s.Endpoint())
	source.silence, source.patience = silence, 4*silence
	w, r := tap(source), runSource(t, source)
	r.await("web=1")
	w.awaitWatch(r)
	return s, w, r
}

func TestEtcdWatchThatIsSilent(t *testing.T) {
	t.Parallel()
	s, w, r := watchedWeb(t, 2*frequently)
	s.Ctl("put", etcdPods+"db", manifest("", "1"))
	r.await("db=1 web=1")
	before := 0
	w.locked(func() { w.streams[0].muted, before = true, len(w.values) })
	client := s.Client()
	s.Ctl("put", "/elsewhere", "1")
	s.Ctl("put", etcdPods+"web", manifest("", "1"))
	put, err := client.Put(t.Context(), etcdPods+"web", manifest("", "2"))
	unittest.Must(t, err)
	_, err = client.Compact(t.Context(), put.Header.Revision) // the next watch cannot begin where this one ends
	unittest.Must(t, err)
	r.awaitThat(func() (problem string) {
		w.locked(func() {
			if !slices.Contains(w.values[before:], 2) { // another list may follow it at once
				problem = "the source has not listed all"
			}
		})
		return problem
	})
	w.awaitWatch(r)
	w.locked(func() { before = len(w.values) })
	s.Ctl("put", etcdPods+"web", manifest("", "3"))
	r.await("db=1 web=3")
	w.locked(func() {
		if slices.Max(w.values[before:]) != 1 {
			t.Errorf("lists sent %d values: the last was not a hint of the watch", w.values)
		}
	})
}

func TestEtcdWatchThatEndsIsLoggedOnce(t *testing.T) {
	logged := unittest.Log(t, "0")
	s, w, r := watchedWeb(t, time.Second)
	for _, image := range []string{"2", "3"} {
		w.locked(func() { w.cut = status.Error(codes.Canceled, "a proxy has cut it") })
		s.Ctl("put", etcdPods+"web", manifest("", image))
		r.await("web=" + image)
	}
	line := "the watch of " + etcdList + " at " + s.Endpoint() + " has ended and is opened again: rpc error: code = Canceled desc = a proxy has cut it\n"
	if text := logged(); strings.Count(text, line) != 1 {
		t.Errorf("want %q once in the log:\n%s", line, text)
	}
}

// Of a thousand hosts that fail together, fewer than a tenth come back within one second.
func TestManyHostsDoNotStayInStep(t *testing.T) {
	polls, retries := map[int]int{}, map[int]int{}
	for range 1000 {
		polls[int(jitter(etcdPollInterval).Seconds())]++
		failures := 0
		next := func() time.Duration {
			failures++
			return pause(failures)
		}
		var outage time.Duration
		for last := time.Duration(0); outage < 30*time.Second; {
			wait := next()
			if wait < max(last/2, time.Second) || wait > etcdMaxBackoff {
				t.Fatalf("a pause of %v comes after one of %v", wait, last)
			}
			last = wait
			outage += wait
		}
		retries[int(outage.Seconds())]++
		for range 9 {
			next()
		}
		if wait := next(); wait < etcdMaxBackoff/2 || wait > etcdMaxBackoff {
			t.Fatalf("the longest pause is %v", wait)
		}
	}
	for _, seconds := range []map[int]int{polls, retries} {
		for second, hosts := range seconds {
			if hosts > 100 {
				t.Errorf("%d hosts come back in second %d", hosts, second)
			}
		}
	}
}
