package minions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"kubelet14/api"
	"kubelet14/api/unittest"
	"kubelet14/config"
	"kubelet14/config/etcdtest"
)

func TestMain(m *testing.M) { unittest.Main(m) }

// fakeKubelet is a kubelet and its source.
type fakeKubelet struct {
	mu       sync.Mutex
	pods     []api.PodStatus
	newer    chan struct{}
	revision int64
	err      error
}

func newKubelet() *fakeKubelet {
	k := &fakeKubelet{newer: make(chan struct{}), revision: 7}
	k.sync(running("web"))
	return k
}

func running(name string) api.PodStatus {
	return api.PodStatus{Name: name, Namespace: "default", Source: "etcd", Phase: api.PodRunning, Ready: true}
}

func failing(name, reason string) api.PodStatus {
	return api.PodStatus{Name: name, Namespace: "default", Source: "etcd", Phase: api.PodFailing, Containers: []api.ContainerStatus{
		{State: api.ContainerState{Running: &api.ContainerStateRunning{}}},
		{State: api.ContainerState{Waiting: &api.ContainerStateWaiting{Reason: reason, Message: "a secret"}}},
	}}
}

// sync publishes statuses.
func (k *fakeKubelet) sync(pods ...api.PodStatus) {
	k.set(func() {
		close(k.newer)
		k.newer = make(chan struct{})
		k.pods = pods
	})
}

func (k *fakeKubelet) set(change func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	change()
}

func (k *fakeKubelet) Health() error { return k.err }

func (k *fakeKubelet) Statuses() ([]api.PodStatus, <-chan struct{}, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.pods, k.newer, nil
}

// reporter returns a reporter of the kubelet.
func (k *fakeKubelet) reporter(host string, etcd etcd) *Reporter {
	return &Reporter{
		Host: host, Version: "v1", Kubelet: k, Etcd: etcd,
		Certificates: []api.Certificate{{NotAfter: time.Unix(2, 0)}, {NotAfter: time.Unix(1, 0)}},
		Sources:      func() []api.SourceStatus { return []api.SourceStatus{{Source: "etcd", LastSuccess: time.Now()}} },
		Revision: func() (revision int64) {
			k.set(func() { revision = k.revision })
			return revision
		},
	}
}

// fakeEtcd accepts writes at once, answers with an error, or does not answer.
type fakeEtcd struct {
	clientv3.KV
	clientv3.Lease

	mu    sync.Mutex
	err   error
	hangs bool
	calls []time.Time
	puts  []put
	lost  chan struct{} // closed: the leases are gone
}

type put struct {
	Record
	at time.Time
}

func (e *fakeEtcd) Client(ctx context.Context) (*clientv3.Client, error) {
	client := clientv3.NewCtxClient(context.WithoutCancel(ctx))
	client.KV, client.Lease = e, e
	return client, nil
}

func (e *fakeEtcd) Explain(_ context.Context, err error, _, _ string) error { return err }

func (e *fakeEtcd) set(change func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	change()
}

// answer waits while etcd hangs.
func (e *fakeEtcd) answer(ctx context.Context) (err error) {
	hangs := false
	e.set(func() { e.calls, hangs, err = append(e.calls, time.Now()), e.hangs, e.err })
	if hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	return err
}

func (e *fakeEtcd) Grant(ctx context.Context, ttl int64) (*clientv3.LeaseGrantResponse, error) {
	e.set(func() {
		if errors.Is(e.err, rpctypes.ErrLeaseNotFound) {
			e.err = nil
		}
	})
	return &clientv3.LeaseGrantResponse{ID: 1}, e.answer(ctx)
}

func (e *fakeEtcd) KeepAlive(ctx context.Context, _ clientv3.LeaseID) (<-chan *clientv3.LeaseKeepAliveResponse, error) {
	answers := make(chan *clientv3.LeaseKeepAliveResponse)
	lost := e.lost
	go func() {
		defer close(answers)
		select {
		case <-lost:
		case <-ctx.Done():
		}
	}()
	return answers, nil
}

func (e *fakeEtcd) Txn(ctx context.Context) clientv3.Txn { return &fakeTxn{etcd: e, ctx: ctx} }

type fakeTxn struct {
	clientv3.Txn
	etcd *fakeEtcd
	ctx  context.Context
	ops  []clientv3.Op
}

func (x *fakeTxn) If(...clientv3.Cmp) clientv3.Txn { return x }

func (x *fakeTxn) Then(ops ...clientv3.Op) clientv3.Txn {
	x.ops = ops
	return x
}

func (x *fakeTxn) Commit() (*clientv3.TxnResponse, error) {
	if err := x.etcd.answer(x.ctx); err != nil {
		return nil, err
	}
	p := put{at: time.Now()}
	err := json.Unmarshal(x.ops[0].ValueBytes(), &p.Record)
	x.etcd.set(func() { x.etcd.puts = append(x.etcd.puts, p) })
	return nil, err
}

// inBubble starts the reporters of a number of hosts, with one kubelet and a fake etcd, runs the test, and stops them.
func inBubble(t *testing.T, hosts int, test func(t *testing.T, k *fakeKubelet, e *fakeEtcd)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		k, e := newKubelet(), &fakeEtcd{lost: make(chan struct{})}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		for i := range hosts {
			running.Go(func() { k.reporter(fmt.Sprint(i), e).Run(ctx) })
		}
		time.Sleep(10 * time.Second)
		test(t, k, e)
		cancel()
		began := time.Now()
		running.Wait()
		if took := time.Since(began); took > time.Second {
			t.Errorf("it takes %v to stop", took)
		}
	})
}

// gaps returns the times between the puts since the last call.
func (e *fakeEtcd) gaps() (gaps []time.Duration) {
	e.set(func() {
		for i := range e.puts[1:] {
			gaps = append(gaps, e.puts[i+1].at.Sub(e.puts[i].at))
		}
		e.puts = e.puts[len(e.puts)-1:]
	})
	return gaps
}

func TestARecordIsWrittenOnChangeAndRarelyOtherwise(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, k *fakeKubelet, e *fakeEtcd) {
		if got := e.gaps(); len(got) != 0 {
			t.Errorf("at first it writes %d records, want 1", len(got)+1)
		}
		e.set(func() { e.puts[0].at = time.Now() })
		time.Sleep(time.Hour)
		got := e.gaps()
		if shortest, longest := slices.Min(got[1:]), slices.Max(got); shortest < 4*time.Minute || longest > 5*time.Minute+time.Second || shortest == longest {
			t.Errorf("without a change it writes every %v to %v, want 4 to 5 minutes, not always the same", shortest, longest)
		}
		k.sync(failing("web", api.ReasonBackOff))
		time.Sleep(6 * time.Second)
		if got := e.gaps(); len(got) != 1 {
			t.Errorf("a change makes %d records, want 1", len(got))
		}
		for i := range 6000 {
			k.sync(failing(fmt.Sprint("web", i), api.ReasonBackOff))
			time.Sleep(100 * time.Millisecond)
		}
		got = e.gaps()
		if shortest, longest := slices.Min(got), slices.Max(got); shortest < minWriteInterval || longest > 2*minWriteInterval+time.Second {
			t.Errorf("with changes all the time it writes every %v to %v, want 5 to 11 seconds", shortest, longest)
		}
		e.set(func() { e.err = rpctypes.ErrLeaseNotFound })
		time.Sleep(2 * maxWriteInterval)
		if got := e.gaps(); len(got) == 0 {
			t.Error("it goes on with a lease that etcd does not know")
		}
		e.set(func() { e.hangs = true }) // while it stops
	})
}

// After an outage the hosts do not write all at once, and during it they rarely try.
func TestAnOutageMakesNoWave(t *testing.T) {
	const hosts = 200
	most := func(times []time.Time) (most int) { // in one second
		seconds := map[int64]int{}
		for _, at := range times {
			seconds[at.Unix()]++
			most = max(most, seconds[at.Unix()])
		}
		return most
	}
	expect := func(when string, e *fakeEtcd) {
		t.Helper()
		e.set(func() {
			var times []time.Time
			for _, p := range e.puts {
				times = append(times, p.at)
			}
			if len(times) < hosts || most(times) > hosts/3 || when != "at the start" && most(times) > hosts/6 {
				t.Errorf("%s: %d hosts write %d records, %d in one second", when, hosts, len(times), most(times))
			}
			e.calls, e.puts = nil, nil
		})
	}
	for _, reason := range []string{"an error", "no answer", "an empty etcd"} {
		inBubble(t, hosts, func(t *testing.T, k *fakeKubelet, e *fakeEtcd) {
			lose := func() {
				close(e.lost)
				e.lost = make(chan struct{})
			}
			expect("at the start", e)
			e.set(lose) // although nothing has changed
			time.Sleep(maxWriteBackoff + 2*time.Second)
			expect("after the loss of all leases", e)
			e.set(func() {
				e.hangs, e.err = reason == "no answer", errors.New("away")
			})
			k.sync(failing("other", api.ReasonBackOff))
			time.Sleep(time.Minute)
			e.set(func() { e.calls = nil })
			time.Sleep(10 * time.Minute)
			e.set(func() {
				if got := len(e.calls) / hosts; most(e.calls) > hosts/3 || got < 3 || got > 60 {
					t.Errorf("%s: during the outage each host asks %d times in ten minutes, %d in one second", reason, got, most(e.calls))
				}
				e.hangs, e.err, e.calls, e.puts = false, nil, nil, nil
				if reason == "an empty etcd" {
					lose()
				}
			})
			time.Sleep(maxWriteBackoff + writePatience + time.Second)
			expect(reason, e)
		})
	}
}

// A script that rolls out an edit waits for its revision and for its pods to be up: these must be the pods after the
// edit.
func TestTheRevisionIsThatOfTheStatuses(t *testing.T) {
	inBubble(t, 1, func(t *testing.T, k *fakeKubelet, e *fakeEtcd) {
		expect := func(revision int64, up int) {
			t.Helper()
			time.Sleep(11 * time.Second)
			e.set(func() {
				if last := e.puts[len(e.puts)-1]; last.Revision != revision || last.Up != up {
					t.Errorf("revision %d with %d pods up, want %d with %d", last.Revision, last.Up, revision, up)
				}
			})
		}
		expect(0, 1) // there may have been no sync since the first revision
		k.sync(running("web"))
		expect(7, 1)
		k.set(func() { k.revision = 9 })
		expect(7, 1)
		k.sync(failing("web", api.ReasonImageNotFound))
		expect(9, 0)
	})
}

// The last record has everything that was not written before.
func TestTheRecordOfAStopIsOfThatMoment(t *testing.T) {
	var etcd *fakeEtcd
	inBubble(t, 1, func(t *testing.T, k *fakeKubelet, e *fakeEtcd) {
		k.sync(failing("web", api.ReasonBackOff), failing("db", api.ReasonBackOff))
		etcd = e
	})
	if last := etcd.puts[len(etcd.puts)-1]; last.Health != stopped || last.Total != 2 || last.Version != "v1" {
		t.Errorf("the last record is %+v", last)
	}
}

// await returns the record of a host once it is good.
func await(t *testing.T, client *clientv3.Client, key string, good func(*Record, clientv3.LeaseID) bool) (r Record) {
	t.Helper()
	unittest.Await(t, func() error {
		answer, err := client.Get(t.Context(), key)
		unittest.Must(t, err)
		if r = (Record{}); len(answer.Kvs) == 1 {
			unittest.Must(t, json.Unmarshal(answer.Kvs[0].Value, &r))
		}
		if len(answer.Kvs) != 1 || !good(&r, clientv3.LeaseID(answer.Kvs[0].Lease)) {
			return fmt.Errorf("%s is %+v", key, r)
		}
		return nil
	})
	return r
}

// start runs a reporter with a connection of its own, until stop.
func start(t *testing.T, k *fakeKubelet, host string, servers []string, file string) (stop func()) {
	etcd, err := config.OpenEtcd(servers, file)
	unittest.Must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer etcd.Close()
		k.reporter(host, etcd).Run(ctx)
	}()
	stop = func() {
		cancel()
		<-ended
	}
	t.Cleanup(stop)
	return stop
}

func TestRecordInEtcd(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	client := s.Client()
	k, began := newKubelet(), time.Now().Truncate(time.Second)
	k.sync(running("web"), failing("db", api.ReasonBackOff))
	stop := start(t, k, "host", []string{s.Endpoint()}, "")
	var lease clientv3.LeaseID
	has := func(_ *Record, id clientv3.LeaseID) bool { lease = id; return true }
	known := await(t, client, knownPrefix+"host", has)
	if lease != 0 {
		t.Errorf("the record that stays has the lease %x", lease)
	}
	live := await(t, client, livePrefix+"host", has)
	want := Record{Time: live.Time, Version: "v1", Expires: time.Unix(1, 0).UTC(), Health: "ok", Up: 1, Total: 2, Failing: []string{"BackOff: db.default.etcd"}}
	if diff := cmp.Diff(want, live) + cmp.Diff(want, known); diff != "" || live.Time.Before(began) || live.Time.After(time.Now()) {
		t.Errorf("at %v (-want +got):\n%s", live.Time, diff)
	}
	if answer, err := client.TimeToLive(t.Context(), lease); err != nil || answer.GrantedTTL != leaseSeconds {
		t.Errorf("the lease is %+v, %v", answer, err)
	}

	s.Kill()
	k.sync(running("web"))
	s.RestartEmpty() // without the lease
	await(t, client, livePrefix+"host", func(r *Record, _ clientv3.LeaseID) bool { return r.Total == 1 })

	// If another kubelet has taken over the host name, the end of this one is not reported as the end of that.
	_, err := client.Put(t.Context(), livePrefix+"host", `{"health": "ok"}`)
	unittest.Must(t, err)
	stop()
	if got := await(t, client, livePrefix+"host", has); got.Health != healthy {
		t.Errorf("the record of another kubelet is replaced by %+v", got)
	}
	unittest.Await(t, func() error { // on a busy machine a stop can run out of its time
		stop := start(t, k, "host", []string{s.Endpoint()}, "")
		await(t, client, livePrefix+"host", func(r *Record, _ clientv3.LeaseID) bool { return r.Total == 1 })
		stop()
		if got := await(t, client, knownPrefix+"host", has); got.Health != stopped || got.Total != 1 {
			return fmt.Errorf("after a clean stop it is %+v", got)
		}
		return nil
	})
}

// captureLog returns a function that waits until what was logged since captureLog matches a pattern.
func captureLog(t *testing.T) (await func(pattern string) (text string, match []string)) {
	t.Helper()
	logged := unittest.Log(t, "0")
	return func(pattern string) (text string, match []string) {
		unittest.Await(t, func() error {
			if text = logged(); !regexp.MustCompile(pattern).MatchString(text) {
				return fmt.Errorf("the log has nothing like %s:\n%s", pattern, text)
			}
			return nil
		})
		return text, regexp.MustCompile(pattern).FindStringSubmatch(text)
	}
}

func TestADeniedWriteIsLoggedOnce(t *testing.T) {
	await := captureLog(t)
	inBubble(t, 1, func(t *testing.T, k *fakeKubelet, e *fakeEtcd) {
		k.sync(failing("web", api.ReasonBackOff))
		for _, err := range []error{errors.New("away"), rpctypes.ErrPermissionDenied, errors.New("away"), rpctypes.ErrPermissionDenied} {
			e.set(func() { e.err = err })
			time.Sleep(maxWriteInterval)
		}
		if text, _ := await("denied"); strings.Count(text, "cannot be written") != 2 || strings.Count(text, "denied") != 1 {
			t.Errorf("the log is\n%s", text)
		}
	})
}

func TestADenialOfEtcdSaysWhatToGrant(t *testing.T) {
	s := etcdtest.Start(t)
	s.EnableAuth("host")
	file := filepath.Join(t.TempDir(), "etcd.yaml")
	unittest.Must(t, os.WriteFile(file, fmt.Appendf(nil, "endpoints: [%q]\nusername: kubelet\npassword: %s\n", s.Endpoint(), etcdtest.Password), 0o600))
	await := captureLog(t)
	start(t, newKubelet(), "host", nil, file)
	_, keys := await(`: etcdctl role grant-permission ROLE readwrite (\S+), and the same for (\S+), but for no prefix`)
	for _, key := range keys[1:] {
		s.Ctl("role", "grant-permission", "kubelet", "readwrite", key)
	}
	await("is written to etcd again")
}
