package config

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"kubelet14/api"
)

// fakeEtcd is a cluster in memory and its clients. Keys are named by what follows
// testRoot.
type fakeEtcd struct {
	mu       sync.Mutex
	cluster  uint64
	revision int64
	keys     map[string]*mvccpb.KeyValue
	events   []*clientv3.Event // that are not compacted
	watches  []fakeWatch

	refused error // what connecting ends with
	failure error // what a Get ends with; when it is DeadlineExceeded, once its time is up
	silent  bool  // watches hear of nothing

	connects, closes int
}

type fakeWatch struct {
	op     clientv3.Op
	answer chan clientv3.WatchResponse
}

func newFakeEtcd() *fakeEtcd {
	return &fakeEtcd{cluster: 1, revision: 1, keys: map[string]*mvccpb.KeyValue{}}
}

// set changes how it behaves.
func (f *fakeEtcd) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

func (f *fakeEtcd) connect(context.Context) (etcdClient, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.connects++
	if f.refused != nil {
		f.closes++ // there is nothing to close
		return nil, f.refused
	}
	return f, nil
}

func (f *fakeEtcd) Close() error {
	f.set(func() { f.closes++ })
	return nil
}

func (f *fakeEtcd) Get(ctx context.Context, key string, opts ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch f.failure {
	case nil:
	case context.DeadlineExceeded:
		f.mu.Unlock()
		<-ctx.Done()
		f.mu.Lock()
		return nil, ctx.Err()
	default:
		return nil, f.failure
	}
	list := &clientv3.GetResponse{Header: f.header()}
	for name, kv := range f.keys {
		if covers(clientv3.OpGet(key, opts...), name) {
			list.Kvs = append(list.Kvs, kv)
		}
	}
	return list, nil
}

func (f *fakeEtcd) Watch(ctx context.Context, key string, opts ...clientv3.OpOption) clientv3.WatchChan {
	f.mu.Lock()
	defer f.mu.Unlock()
	watch := fakeWatch{clientv3.OpGet(key, opts...), make(chan clientv3.WatchResponse, 10_000)}
	f.watches = append(f.watches, watch)
	for _, event := range f.events {
		if watch.op.Rev() > 0 { // without a revision it begins with the next change
			f.tell(watch, event)
		}
	}
	context.AfterFunc(ctx, func() { f.end(watch) })
	return watch.answer
}

// end ends a watch that nobody wants any more.
func (f *fakeEtcd) end(watch fakeWatch) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watches = slices.DeleteFunc(f.watches, func(w fakeWatch) bool {
		if w.answer != watch.answer {
			return false
		}
		close(w.answer)
		return true
	})
}

func (f *fakeEtcd) header() *etcdserverpb.ResponseHeader {
	return &etcdserverpb.ResponseHeader{ClusterId: f.cluster, Revision: f.revision}
}

// covers says whether the operation is about the key.
func covers(op clientv3.Op, key string) bool {
	from, end := string(op.KeyBytes()), string(op.RangeBytes())
	return key == from || from < key && key < end
}

// tell has a watch hear of the event, if that is what it watches for.
func (f *fakeEtcd) tell(watch fakeWatch, event *clientv3.Event) {
	if covers(watch.op, string(event.Kv.Key)) && event.Kv.ModRevision >= watch.op.Rev() && !f.silent {
		watch.answer <- clientv3.WatchResponse{Header: f.header(), Events: []*clientv3.Event{event}}
	}
}

// happen changes a key.
func (f *fakeEtcd) happen(what mvccpb.Event_EventType, key, value string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.revision++
	kv := &mvccpb.KeyValue{Key: []byte(testRoot + key), Value: []byte(value), ModRevision: f.revision}
	event := &clientv3.Event{Type: what, Kv: kv}
	f.keys[string(kv.Key)] = kv
	if what == clientv3.EventTypeDelete {
		delete(f.keys, string(kv.Key))
	}
	f.events = append(f.events, event)
	for _, watch := range f.watches {
		f.tell(watch, event)
	}
}

func (f *fakeEtcd) put(key, value string) { f.happen(clientv3.EventTypePut, key, value) }
func (f *fakeEtcd) delete(key string)     { f.happen(clientv3.EventTypeDelete, key, "") }

// endWatches ends all watches, with a last word.
func (f *fakeEtcd) endWatches(word clientv3.WatchResponse) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, watch := range f.watches {
		if word.Err() != nil {
			watch.answer <- word
		}
		close(watch.answer)
	}
	f.watches = nil
}

// etcdTest is a source with a fake cluster, in a bubble: its pauses take no time.
type etcdTest struct {
	*fakeEtcd
	source  *SourceEtcd
	t       *testing.T
	updates chan api.PodUpdate
	why     error // what keeps a list from being answered
	stop    func()
}

// testEtcd runs a test, which starts the source when the cluster is as it wants it.
func testEtcd(t *testing.T, test func(*etcdTest)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		e := &etcdTest{
			fakeEtcd: newFakeEtcd(),
			source:   NewSourceEtcd(clientv3.Config{Endpoints: []string{"http://etcd:2379"}}, testParser()),
			t:        t, updates: make(chan api.PodUpdate),
		}
		e.source.connect = e.connect
		e.source.why = func(context.Context) error { return e.why }
		test(e)
		if e.stop(); e.connects != e.closes {
			t.Errorf("%d clients were made, and %d closed", e.connects, e.closes)
		}
	})
}

// start runs the source until stop is called, which waits for its end.
func (e *etcdTest) start() {
	ctx, cancel := context.WithCancel(e.t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		e.source.Run(ctx, e.updates)
	}()
	e.stop = func() {
		e.t.Helper()
		cancel()
		select {
		case <-ended:
		case <-time.After(time.Hour):
			e.t.Fatal("Run goes on")
		}
	}
}

// expect receives the next update, checks it, and waits until the source waits too.
func (e *etcdTest) expect(pods string, words ...string) {
	e.t.Helper()
	select {
	case update := <-e.updates:
		expectSet(e.t, update, pods, words...)
	case <-time.After(time.Hour):
		e.t.Fatalf("no update in an hour; waited for %q and an error with %q", pods, words)
	}
	synctest.Wait()
}

// quiet checks that nothing is sent for a minute.
func (e *etcdTest) quiet() {
	e.t.Helper()
	select {
	case update := <-e.updates:
		e.t.Errorf("got %s, error: %v", showUpdate(update), update.Err)
	case <-time.After(time.Minute):
	}
}

func TestEtcdListsThenWatches(t *testing.T) {
	testEtcd(t, func(e *etcdTest) {
		began := time.Now()
		e.put("/web", manifest("web", "1"))
		e.put("-2/other", manifest("other", "1"))
		e.start()
		e.expect("web=1")
		e.put("/db", manifest("", "1"))
		e.expect("db=1 web=1")
		e.put("-2/other", manifest("other", "2"))
		e.put("", "["+jsonManifest("listed", "1")+"]")
		e.expect("listed=1 db=1 web=1")
		e.put("/web", "bad: [")
		e.expect("listed=1 db=1 web=1", testRoot+"/web:1:")
		e.delete("/db")
		e.expect("listed=1 web=1", testRoot+"/web:1:")
		e.put("/web", manifest("web", "2"))
		e.delete("")
		e.expect("web=2")
		if time.Since(began) >= etcdCheckTime {
			t.Error("it was not the watch that saw the changes")
		}
		e.quiet()
	})
}

// No change falls between the list and the watch.
func TestEtcdWatchBeginsWhereTheListEnds(t *testing.T) {
	testEtcd(t, func(e *etcdTest) {
		e.start()
		synctest.Wait() // it has listed, and cannot watch before somebody receives
		e.put("/web", manifest("web", "1"))
		e.expect("")
		began := time.Now()
		e.expect("web=1")
		if time.Since(began) >= etcdCheckTime {
			t.Error("it was not the watch that saw the change")
		}
	})
}

// A watch can be dead and not say so.
func TestEtcdListFindsWhatTheWatchMissed(t *testing.T) {
	testEtcd(t, func(e *etcdTest) {
		e.put("/web", manifest("web", "1"))
		e.silent = true
		e.start()
		e.expect("web=1")
		e.put("/web", manifest("web", "2"))
		e.expect("web=2")
		e.put("/db", manifest("db", "1"))
		e.delete("/web")
		e.expect("db=1")
		e.quiet()
	})
}

func TestEtcdBurstIsOneUpdate(t *testing.T) {
	testEtcd(t, func(e *etcdTest) {
		e.start()
		e.expect("")
		for i := range 500 {
			e.put("/web", manifest("web", fmt.Sprint(i)))
			e.put(fmt.Sprintf("/db-%d", i%3), manifest("", fmt.Sprint(i)))
		}
		e.delete("/db-0")
		e.expect("db-1=499 db-2=497 web=499")
		e.quiet()
	})
}
