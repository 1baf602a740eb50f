package config

import (
	"errors"
	"os"
	"runtime"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"kubelet14/api"
	"kubelet14/api/unittest"
)

// mounted is a source of a directory on which another one is mounted. It polls like Run in a bubble, without the hints
// that a mount does not give.
type mounted struct {
	*fileTest
	next time.Time // poll
	real bool      // false: this user may not mount, and a rename stands in for it
}

// inMount runs a test with two pods in the mounted directory.
func inMount(t *testing.T, test func(m *mounted)) {
	synctest.Test(t, func(t *testing.T) {
		runtime.LockOSThread() // until it ends, and its mounts with it
		m := &mounted{fileTest: newFileTest(t), next: time.Now(), real: syscall.Unshare(syscall.CLONE_NEWNS) == nil}
		if m.real {
			unittest.Must(t, syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""))
			unittest.Must(t, os.Mkdir(m.dir+".other", 0o755))
		} else {
			unittest.Must(t, os.Rename(m.dir, m.dir+".other"))
		}
		m.mount()
		t.Cleanup(func() { syscall.Unmount(m.dir, syscall.MNT_DETACH) }) // if it is a mount
		m.write("a.yaml", manifest("web", "1"))
		m.write("b.yaml", manifest("db", "1"))
		m.run(time.Minute)
		m.expectNow("web=1 db=1")
		test(m)
	})
}

func (m *mounted) mount() {
	m.t.Helper()
	if m.real {
		unittest.Must(m.t, syscall.Mount(m.dir+".other", m.dir, "", syscall.MS_BIND, ""))
		return
	}
	os.Remove(m.dir) // the empty one
	unittest.Must(m.t, os.Rename(m.dir+".other", m.dir))
}

func (m *mounted) unmount() {
	m.t.Helper()
	if m.real {
		unittest.Must(m.t, syscall.Unmount(m.dir, 0))
		return
	}
	unittest.Must(m.t, errors.Join(os.Rename(m.dir, m.dir+".other"), os.Mkdir(m.dir, 0o755)))
}

// lose unmounts it just before the next poll, and waits until that is noticed.
func (m *mounted) lose() {
	m.t.Helper()
	m.run(time.Until(m.next) - time.Second)
	m.unmount()
	m.run(time.Second + settleTime)
	m.inDoubt("the mount is gone", time.Hour)
}

// run lets time pass, with all polls that are due.
func (m *mounted) run(d time.Duration) {
	for end := time.Now().Add(d); ; {
		if m.next.After(end) {
			time.Sleep(time.Until(end))
			return
		}
		time.Sleep(time.Until(m.next))
		wait, done := m.poll(time.Now())
		if done {
			wait = min(wait, m.publish(m.t.Context(), m.updates))
			select {
			case m.last = <-m.updates:
			default:
			}
		}
		m.next = time.Now().Add(wait)
	}
}

// inDoubt checks that the source wants no pods, and how long that is not believed; 0: it is believed.
func (m *mounted) inDoubt(when string, wait time.Duration) {
	m.t.Helper()
	if len(m.last.Pods) > 0 || (m.last.NoPods == nil) != (wait == 0) {
		m.t.Fatalf("%s: pods %s, %v", when, show(m.last.Pods), m.last.NoPods)
	}
	if wait != 0 && time.Until(m.last.NoPods.Until) != wait {
		m.t.Errorf("%s: in %v: %v, want %v", when, time.Until(m.last.NoPods.Until), m.last.NoPods, wait)
	}
}

func TestAMountThatIsGoneForAMoment(t *testing.T) {
	inMount(t, func(m *mounted) {
		m.lose()
		m.run(time.Hour - time.Nanosecond)
		m.inDoubt("at the last moment", time.Nanosecond)
		m.mount()
		m.run(settleTime)
		m.inDoubt("the files may not be complete", time.Nanosecond-settleTime)
		m.run(time.Nanosecond)
		m.expectNow("web=1 db=1")

		m.lose()
		m.write("new.yaml", "bad: [")
		m.run(time.Hour + settleTime)
		if m.last.NoPods == nil || !m.last.NoPods.Until.IsZero() {
			t.Errorf("a file is bad: %v", m.last.NoPods)
		}
		m.remove("new.yaml")
		m.run(time.Until(m.next) + settleTime)
		m.inDoubt("the bad file is removed", time.Hour)
		m.run(time.Hour)
		m.inDoubt("in the end", 0)
	})
}

// TestAHintDoesNotShortenTheWait reads an empty directory more often than it is polled.
func TestAHintDoesNotShortenTheWait(t *testing.T) {
	inMount(t, func(m *mounted) {
		m.lose()
		for range 3 {
			m.next = time.Now() // a hint
			m.run(10 * time.Minute)
		}
		m.inDoubt("in half an hour", 30*time.Minute)
		m.mount()
		m.run(time.Hour)
		m.expectNow("web=1 db=1")
	})
}

func TestASourceThatIsNotBelievedIsNotSynced(t *testing.T) {
	for mode, removal := range []string{"SET", "SET", "REMOVE a=1 b=1"} {
		s := newStorageTest(t, PodConfigNotificationMode(mode))
		s.merge(api.SET, newPod("a", "1"), newPod("b", "1"))
		doubt := func(until time.Time) []string {
			return s.mergeFrom("test", api.PodUpdate{Op: api.SET, NoPods: &api.NoPodsError{Source: "test", Until: until}})
		}
		s.expect(doubt(time.Time{}), removal+" unsynced:test")
		s.expect(doubt(time.Time{}))
		s.expect(doubt(time.Now()), "SET unsynced:test")
		s.expect(s.merge(api.SET), "SET")
	}
}
