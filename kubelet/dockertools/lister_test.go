package dockertools

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
)

// slowList is a Docker whose list is answered when the test says so.
type slowList struct {
	Interface // nothing else is called

	mu      sync.Mutex
	lists   int
	err     error
	release chan struct{}
}

func (d *slowList) ListContainers(ctx context.Context, _ map[string]string) ([]Container, error) {
	d.mu.Lock()
	d.lists++
	n, err := d.lists, d.err
	d.mu.Unlock()
	select {
	case <-d.release:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	// The attempt number tells which list a caller got.
	return []Container{labelled("k8s_web.1_www.default.file_u_"+strconv.Itoa(n), us, nil)}, err
}

func (d *slowList) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.lists
}

func TestOneListServesAllWhoAskTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		docker := &slowList{release: make(chan struct{})}
		l := NewLister(docker, us)
		since := l.Mark()
		for range 100 {
			go func() {
				if list, err := l.List(t.Context(), since); err != nil || len(list) != 1 {
					t.Errorf("list: %v, %v", list, err)
				}
			}()
		}
		synctest.Wait()
		close(docker.release)
		synctest.Wait()
		if n := docker.count(); n != 1 {
			t.Errorf("%d lists for 100 that asked together, want 1", n)
		}
	})
}

func TestAListOnItsWayIsTooOldForALaterMark(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		docker := &slowList{release: make(chan struct{})}
		l := NewLister(docker, us)
		before := l.Mark()
		go l.List(t.Context(), before)
		synctest.Wait()
		after := l.Mark() // the first list is on its way
		var got []Owned
		go func() { got, _ = l.List(t.Context(), after) }()
		synctest.Wait()
		docker.release <- struct{}{}
		synctest.Wait()
		if got != nil {
			t.Fatal("a list that began before the mark was given for one after it")
		}
		close(docker.release)
		synctest.Wait()
		if len(got) != 1 || got[0].Of.Attempt != 2 {
			t.Errorf("got %+v, want the second list", got)
		}
		if list, err := l.List(t.Context(), before); err != nil || list[0].Of.Attempt != 2 || docker.count() != 2 {
			t.Errorf("an older mark: %v, %v after %d lists; want the newest list again", list, err, docker.count())
		}
	})
}

func TestTheEndOfOneIsNoAnswerForTheOthers(t *testing.T) {
	for _, cause := range []error{nil, errors.New("no answer within 5s")} {
		synctest.Test(t, func(t *testing.T) {
			docker := &slowList{release: make(chan struct{})}
			l := NewLister(docker, us)
			since := l.Mark()
			ctx, cancel := context.WithCancelCause(t.Context())
			go l.List(ctx, since)
			synctest.Wait()
			var got []Owned
			var err error
			go func() { got, err = l.List(t.Context(), since) }()
			synctest.Wait()
			cancel(cause) // of the one whose call both wait for
			synctest.Wait()
			close(docker.release)
			synctest.Wait()
			if err != nil || len(got) != 1 {
				t.Errorf("the one that stays: %v, %v; want a list", got, err)
			}
		})
	}
}

func TestAnErrorOfTheListIsForAllWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		docker := &slowList{release: make(chan struct{}), err: broken}
		l := NewLister(docker, us)
		since := l.Mark()
		for range 10 {
			go func() {
				if _, err := l.List(t.Context(), since); !errors.Is(err, broken) {
					t.Errorf("error %v, want %v", err, broken)
				}
			}()
		}
		synctest.Wait()
		close(docker.release)
		synctest.Wait()
		if n := docker.count(); n != 1 {
			t.Errorf("%d calls for one error, want 1", n)
		}
	})
}

func TestAnErrorOfAnOlderListIsNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		docker := &slowList{release: make(chan struct{}), err: errors.New("broken")}
		l := NewLister(docker, us)
		go l.List(t.Context(), l.Mark())
		synctest.Wait()
		later := l.Mark() // the list that will fail is on its way
		docker.err = nil
		var got []Owned
		var err error
		go func() { got, err = l.List(t.Context(), later) }()
		synctest.Wait()
		close(docker.release)
		synctest.Wait()
		if err != nil || len(got) != 1 {
			t.Errorf("%v, %v; want the next list", got, err)
		}
	})
}

// given is a Docker with these containers. meanwhile runs while a list is on its way.
type given struct {
	Interface
	containers []Container
	meanwhile  func()
}

func (d *given) ListContainers(context.Context, map[string]string) ([]Container, error) {
	if d.meanwhile != nil {
		d.meanwhile()
	}
	return d.containers, nil
}

func TestTheListIsOrdered(t *testing.T) {
	want := []string{
		"k8s_db.1_aaa.default.file_u_1",
		"k8s_net.1_aaa.default.file_u_1",
		"k8s_db.1_www.default.file_u_2",
		"k8s_db.1_www.default.file_u_10_poststart",
		"k8s_db.1_www.default.file_u_10",
	}
	docker := &given{}
	for _, name := range want {
		docker.containers = append(docker.containers, labelled(name, us, nil))
	}
	slices.Reverse(docker.containers)
	list, err := NewLister(docker, us).List(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range list {
		got = append(got, o.Name)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the list is %q, want %q", got, want)
	}
}

func TestAnEventThatComesBeforeItsContainerIsRemembered(t *testing.T) {
	docker := &given{}
	l := NewLister(docker, us)
	docker.meanwhile = func() { l.RanOutOfMemory("id") }
	if _, err := l.List(t.Context(), l.Mark()); err != nil || len(l.starved) != 1 {
		t.Errorf("after a list that was begun before it %v is remembered, %v", l.starved, err)
	}
}

// countingInspect answers each inspect with how many there were.
type countingInspect struct {
	Interface
	n      int
	during func() // runs while an inspect is on its way
}

func (d *countingInspect) InspectContainer(context.Context, string) (Details, error) {
	d.n++
	if d.during != nil {
		d.during()
	}
	return Details{State: StateRunning, ExitCode: d.n}, nil
}

// endedInspect is a Docker whose inspect says the same each time.
type endedInspect struct {
	Interface // nothing else is called
	details   Details
}

func (d *endedInspect) InspectContainer(context.Context, string) (Details, error) {
	return d.details, nil
}

func (d *endedInspect) ListContainers(context.Context, map[string]string) ([]Container, error) {
	return nil, nil
}

func TestAnEventTellsWhatAnInspectDoesNot(t *testing.T) {
	for _, test := range []struct {
		name    string
		details Details
		noted   string
		want    bool
	}{
		{"it was killed", Details{State: StateExited, ExitCode: 137}, "id", true},
		{"another one ran out of memory", Details{State: StateExited, ExitCode: 137}, "other", false},
		{"it lives on", Details{State: StateRunning}, "id", false},
		{"it ended by itself later", Details{State: StateExited, ExitCode: 1}, "id", false},
		{"the inspect tells", Details{State: StateExited, ExitCode: 137, OOMKilled: true}, "other", true},
	} {
		l := NewLister(&endedInspect{details: test.details}, us)
		l.RanOutOfMemory(test.noted)
		look := func() bool {
			t.Helper()
			got, err := l.Details(t.Context(), Owned{Container: Container{ID: "id", State: test.details.State}}, "key")
			if err != nil {
				t.Fatal(err)
			}
			return got.OOMKilled
		}
		for range 2 { // from Docker, and from memory
			if look() != test.want {
				t.Errorf("%s: that it ran out of memory is told: %v", test.name, !test.want)
			}
		}
		// What is not on Docker any more need not be remembered.
		if _, err := l.List(t.Context(), l.Mark()); err != nil || len(l.starved) > 0 {
			t.Errorf("%s: after a list without it %v are remembered, %v", test.name, l.starved, err)
		}
	}
}

func TestDetailsAreRemembered(t *testing.T) {
	docker := &countingInspect{}
	l := NewLister(docker, us)
	listed := StateRunning
	ask := func(key string, want int) {
		t.Helper()
		if d, err := l.Details(t.Context(), Owned{Container: Container{ID: "id", State: listed}}, key); err != nil || d.ExitCode != want {
			t.Errorf("inspect %d, %v; want inspect %d", d.ExitCode, err, want)
		}
	}
	ask("running", 1)
	ask("running", 1)
	ask("exited", 2) // what is seen of it has changed
	l.Forget("another")
	ask("exited", 2)
	l.Forget("id") // an event named it
	ask("exited", 3)
	l.Forget("") // the events had a gap
	docker.during = func() { l.Forget("id") }
	ask("exited", 4) // an event came while this was on its way
	docker.during = nil
	ask("exited", 5)
	listed = StateExited
	ask("contradicted", 6) // Docker's list and inspect do not agree yet
	ask("contradicted", 7)
}
