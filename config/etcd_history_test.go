package config

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

func TestEtcdHistory(t *testing.T) {
	type step struct {
		cluster  uint64
		revision int64
		word     string // of the error; empty: the list counts
	}
	for what, steps := range map[string][]step{
		"it grows":                     {{7, 1, ""}, {7, 1, ""}, {7, 5, ""}, {7, 6, ""}},
		"another cluster, and back":    {{7, 5, ""}, {8, 9, "cluster 8, and it was cluster 7"}, {8, 1, "cluster 8"}, {7, 6, ""}},
		"it goes back":                 {{7, 5, ""}, {7, 4, "from revision 5 to 4"}, {7, 3, "from revision 5 to 4"}},
		"it goes back, and far beyond": {{7, 5, ""}, {7, 4, "from revision 5 to 4"}, {7, 5, "from revision 5 to 4"}, {7, 900, "from revision 5 to 4"}},
	} {
		var h etcdHistory
		for i, s := range steps {
			err := h.goesOn(&etcdserverpb.ResponseHeader{ClusterId: s.cluster, Revision: s.revision})
			if (err == nil) != (s.word == "") || err != nil && !strings.Contains(err.Error(), s.word) {
				t.Errorf("%s, step %d: got %v", what, i, err)
			}
			if err != nil && !strings.Contains(err.Error(), "restart the kubelet") {
				t.Errorf("%s: the error does not say what to do: %v", what, err)
			}
		}
	}
}

func TestEtcdCompactionIsNoError(t *testing.T) {
	testEtcd(t, func(e *etcdTest) {
		e.put("/web", manifest("web", "1"))
		e.put("/db", manifest("db", "1"))
		e.start()
		e.expect("db=1 web=1")
		e.set(func() { e.silent = true })
		e.put("/web", manifest("web", "2"))
		e.delete("/db")
		e.set(func() { e.silent, e.events = false, nil })
		before := time.Now()
		e.endWatches(clientv3.WatchResponse{CompactRevision: e.revision})
		e.expect("web=2")
		if late := time.Since(before); late > 0 {
			t.Errorf("it was listed again after %v", late)
		}
		e.put("/web", manifest("web", "3"))
		e.expect("web=3")
		if status := e.source.Status(); status.LastError != "" {
			t.Errorf("got %+v", status)
		}
	})
}

func TestEtcdWatchThatEndsIsFollowedByAnother(t *testing.T) {
	for what, test := range map[string]struct {
		last clientv3.WatchResponse
		word string
	}{
		"without a word":        {clientv3.WatchResponse{}, "the watch has ended"},
		"for want of a leader":  {clientv3.WatchResponse{Canceled: true, CancelReason: "etcdserver: no leader"}, "no leader"},
		"for want of the right": {clientv3.WatchResponse{Canceled: true, CancelReason: "etcdserver: permission denied"}, "permission denied"},
	} {
		t.Run(what, func(t *testing.T) {
			testEtcd(t, func(e *etcdTest) {
				e.put("/web", manifest("web", "1"))
				e.start()
				e.expect("web=1")
				e.endWatches(test.last)
				e.expect("web=1", "read "+testRoot+" at http://etcd:2379: ", test.word)
				e.put("/web", manifest("web", "2")) // while nobody watches
				e.expect("web=2")
				e.put("/web", manifest("web", "3"))
				e.expect("web=3")
				e.quiet()
			})
		})
	}
}

// A watch that goes over to another cluster tells of that one's changes. None may
// count.
func TestEtcdOtherClusterIsAnError(t *testing.T) {
	for what, silent := range map[string]bool{"seen by the watch": false, "seen by the list": true} {
		t.Run(what, func(t *testing.T) {
			testEtcd(t, func(e *etcdTest) {
				e.put("/web", manifest("web", "1"))
				e.start()
				e.expect("web=1")
				e.set(func() { e.cluster, e.silent = 0xabc, silent })
				e.put("/web", manifest("web", "2"))
				e.put("/db", manifest("db", "1"))
				e.expect("web=1", "this is cluster abc, and it was cluster 1", "restart the kubelet")
				e.delete("/web")
				e.quiet()
				e.set(func() { e.cluster, e.silent = 1, false })
				e.expect("db=1")
			})
		})
	}
}

// It has lost its data: that the keys are missing means nothing. Nor do they once
// its revision is high again, since it is not the old one's.
func TestEtcdThatWentBackIsAnErrorForGood(t *testing.T) {
	testEtcd(t, func(e *etcdTest) {
		e.put("/web", manifest("web", "1"))
		e.start()
		e.expect("web=1")
		e.set(func() {
			e.revision, e.events, e.silent = 1, nil, true
			clear(e.keys)
		})
		e.expect("web=1", "gone back from revision 2 to 1", "restart the kubelet")
		failing := e.source.Status().FailingSince
		e.set(func() { e.silent = false })
		for range 10 {
			e.put("/db", manifest("db", "1"))
			e.quiet()
		}
		e.stop()
		if s := e.source.Status(); s.Pods != 1 || s.FailingSince.IsZero() || s.FailingSince != failing {
			t.Errorf("got %+v", s)
		}
	})
}

func TestEtcdStatusWhileItIsAway(t *testing.T) {
	testEtcd(t, func(e *etcdTest) {
		e.put("/web", manifest("web", "1"))
		e.start()
		e.expect("web=1")
		well := e.source.Status()
		e.set(func() { e.failure = errors.New("it is away") })
		e.expect("web=1", "it is away")
		failed := e.source.Status()
		if failed.LastSuccess.Before(well.LastSuccess) || !failed.FailingSince.After(failed.LastSuccess) || failed.Pods != 1 {
			t.Errorf("got %+v, before %+v", failed, well)
		}
		e.quiet()
		later := e.source.Status()
		if later.FailingSince != failed.FailingSince || !later.LastErrorAt.After(failed.LastErrorAt) || later.LastSuccess != failed.LastSuccess {
			t.Errorf("got %+v, before %+v", later, failed)
		}
		e.set(func() { e.failure = nil })
		e.put("/web", manifest("web", "2"))
		e.expect("web=2")
		if mended := e.source.Status(); !mended.FailingSince.IsZero() || !mended.LastSuccess.After(later.LastErrorAt) {
			t.Errorf("got %+v", mended)
		}
	})
}

func TestEtcdErrorSaysWhatToDo(t *testing.T) {
	for what, test := range map[string]struct {
		failure, why error
		word         string
	}{
		"no permission": {rpctypes.ErrPermissionDenied, nil, "permission denied: grant it with: " +
			"etcdctl role grant-permission ROLE read /registry/hosts/host/kubelet /registry/hosts/host/kubelet0"},
		"no user":                {rpctypes.ErrUserEmpty, nil, "write username and password into a file for -etcd_config"},
		"no server":              {context.DeadlineExceeded, errors.New("connection refused"), "connection refused"},
		"no answer":              {context.DeadlineExceeded, nil, "has the cluster lost its leader, does a server want https, or is it no etcd 3?"},
		"no etcd":                {errors.New("rpc error: code = Unimplemented desc = 404 (Not Found)"), nil, "404 (Not Found): is an etcd 3 at this address?"},
		"an error of the server": {rpctypes.ErrNoSpace, errors.New("connection refused"), "database space exceeded"},
	} {
		t.Run(what, func(t *testing.T) {
			testEtcd(t, func(e *etcdTest) {
				e.why, e.refused = test.why, test.failure
				e.start()
				e.expect("", "read "+testRoot+" at http://etcd:2379: ", test.word)
				e.put("/web", manifest("web", "1"))
				e.set(func() { e.refused = nil })
				e.expect("web=1")
				e.set(func() { e.failure = test.failure })
				e.expect("web=1", "read "+testRoot+" at http://etcd:2379: ", test.word)
				e.quiet()
				e.set(func() { e.failure = nil })
				e.expect("web=1")
			})
		})
	}
}

func TestEtcdIsConnectedToAgainAfterASecond(t *testing.T) {
	testEtcd(t, func(e *etcdTest) {
		e.refused = errors.New("no")
		e.start()
		e.expect("", "no")
		e.set(func() { e.connects, e.closes = 0, 0 })
		e.quiet()
		e.set(func() {
			if e.connects < 59 || e.connects > 61 {
				t.Errorf("%d times in a minute", e.connects)
			}
			e.refused = nil
		})
		e.expect("")
	})
}

// The list was ahead of the watch.
func TestEtcdOldNewsOfTheWatchIsSkipped(t *testing.T) {
	testEtcd(t, func(e *etcdTest) {
		e.silent = true
		e.start()
		e.expect("")
		e.put("/web", manifest("web", "1"))
		e.delete("/web")
		e.put("/web", manifest("web", "2"))
		e.expect("web=2")
		e.set(func() { e.silent = false })
		for _, event := range e.events[:2] {
			e.tell(e.watches[0], event)
			e.quiet()
		}
		e.put("/web", manifest("web", "3"))
		e.expect("web=3")
	})
}

// Changes without a pause must not hold back what there is.
func TestEtcdEndlessBurstIsToldOf(t *testing.T) {
	testEtcd(t, func(e *etcdTest) {
		e.start()
		e.expect("")
		for range 20 * etcdGatherTime / time.Millisecond {
			e.put("/web", manifest("web", "1"))
			time.Sleep(time.Millisecond)
		}
		select {
		case update := <-e.updates:
			expectSet(t, update, "web=1")
		default:
			t.Error("nothing is sent")
		}
	})
}

// While nobody receives, etcd keeps what the watch has not taken.
func TestEtcdSlowReceiverMissesNothing(t *testing.T) {
	testEtcd(t, func(e *etcdTest) {
		e.put("/web", manifest("web", "1"))
		e.start()
		for i := range 100 {
			time.Sleep(time.Minute)
			e.put("/web", manifest("web", fmt.Sprint(i)))
			e.put(fmt.Sprintf("/%d", i), manifest("", "1"))
			e.delete(fmt.Sprintf("/%d", i))
		}
		e.put("/db", manifest("db", "1"))
		e.expect("web=1")
		e.expect("db=1 web=99")
		e.quiet()
	})
}

func TestEtcdRunEndsWithItsContext(t *testing.T) {
	for where, reach := range map[string]func(e *etcdTest){
		"while it connects": func(e *etcdTest) {
			e.source.connect = func(ctx context.Context) (etcdClient, error) { <-ctx.Done(); return nil, ctx.Err() }
			e.start()
		},
		"while it lists":          func(e *etcdTest) { e.failure = context.DeadlineExceeded; e.start() },
		"while it watches":        func(e *etcdTest) { e.start(); e.expect("") },
		"while it sends":          func(e *etcdTest) { e.start() },
		"while it sends an error": func(e *etcdTest) { e.refused = errors.New("no"); e.start() },
		"in the pause":            func(e *etcdTest) { e.refused = errors.New("no"); e.start(); e.expect("", "no") },
	} {
		t.Run(where, func(t *testing.T) {
			testEtcd(t, func(e *etcdTest) {
				reach(e)
				synctest.Wait()
				before := time.Now()
				e.stop()
				if late := time.Since(before); late > 0 {
					t.Errorf("it took %v", late)
				}
				if status := e.source.Status(); strings.Contains(status.LastError, "context") {
					t.Errorf("the end is taken for an error: %v", status)
				}
			})
		})
	}
}
