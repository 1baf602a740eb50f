package dockertest

import (
	"errors"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"kubelet14/kubelet/dockertools"
)

func TestFakePullTakesItsTimeAndTellsOfIt(t *testing.T) {
	inFake(t, func(t *testing.T, f *Fake) {
		f.AddRemoteImage("web", RemoteImage{Takes: time.Minute})
		began := time.Now()
		var first, last dockertools.PullProgress
		var told []time.Duration
		err := f.PullImage(t.Context(), "web", dockertools.Auth{}, func(p dockertools.PullProgress) {
			if told = append(told, time.Since(began)); len(told) == 1 {
				first = p
			}
			last = p
			if _, err := f.ByHand().InspectImage(t.Context(), "web"); !errors.Is(err, dockertools.ErrNoSuchImage) {
				t.Errorf("after %v the image is there, %v", time.Since(began), err)
			}
		})
		if err != nil || time.Since(began) != time.Minute {
			t.Errorf("the pull took %v, %v", time.Since(began), err)
		}
		if len(told) < 3 || told[1] == 0 || told[1] == time.Minute || first.Bytes != 0 || first.Layers == 0 ||
			last.Bytes != first.TotalBytes || last.LayersDone != first.Layers {
			t.Errorf("progress at %v, from %+v to %+v", told, first, last)
		}
		if _, err := f.InspectImage(t.Context(), "web"); err != nil {
			t.Errorf("after the pull: %v", err)
		}
	})
}

func TestFakePullOfWhatIsThereTakesNoTime(t *testing.T) {
	inFake(t, func(t *testing.T, f *Fake) {
		pull := func(want time.Duration) (id string) {
			t.Helper()
			began := time.Now()
			err := f.PullImage(t.Context(), "web:1", dockertools.Auth{}, noProgress)
			if took := time.Since(began); err != nil || took != want {
				t.Errorf("the pull took %v, want %v: %v", took, want, err)
			}
			id, _ = f.InspectImage(t.Context(), "web:1")
			return id
		}
		f.AddRemoteImage("web:1", RemoteImage{Takes: time.Minute})
		first := pull(time.Minute)
		if again := pull(0); again != first {
			t.Errorf("the image is %s, and was %s", again, first)
		}
		f.AddRemoteImage("web:1", RemoteImage{Takes: time.Hour})
		if changed := pull(time.Hour); changed == first {
			t.Errorf("it has changed in the registry, and is still %s", changed)
		}
	})
}

// A container keeps the image it was made of, whatever has its name now.
func TestFakeContainersNameTheirImage(t *testing.T) {
	inFake(t, func(t *testing.T, f *Fake) {
		old, _ := f.InspectImage(t.Context(), "app")
		id := mustRun(t, f, app("a"))
		f.AddImage("app", nil)
		if now, _ := f.InspectImage(t.Context(), "app"); now == old {
			t.Errorf("the new image has the id of the old one, %s", old)
		}
		if details, err := f.InspectContainer(t.Context(), id); err != nil || details.ImageID != old {
			t.Errorf("made of %s, it says %+v, %v", old, details, err)
		}
	})
}

func TestFakePullRunsTheProgramOfTheRegistry(t *testing.T) {
	inFake(t, func(t *testing.T, f *Fake) {
		f.AddRemoteImage("web", RemoteImage{Program: func(dockertools.ContainerSpec) Program { return Program{Exits: true, ExitCode: 9} }})
		if err := f.PullImage(t.Context(), "web", dockertools.Auth{}, noProgress); err != nil {
			t.Fatal(err)
		}
		mustRun(t, f, dockertools.ContainerSpec{Name: "a", Image: "web"})
		check(t, f, "a exited 9")
	})
}

func TestFakePullBreaksWithTheDaemon(t *testing.T) {
	inFake(t, func(t *testing.T, f *Fake) {
		f.AddRemoteImage("web", RemoteImage{Takes: time.Hour})
		broken := make(chan error, 1)
		go func() { broken <- f.PullImage(t.Context(), "web", dockertools.Auth{}, noProgress) }()
		synctest.Wait()
		f.RestartDaemon(true)
		if err := <-broken; !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("the pull: %v, want a refused connection", err)
		}
		time.Sleep(2 * time.Hour)
		if _, err := f.InspectImage(t.Context(), "web"); !errors.Is(err, dockertools.ErrNoSuchImage) {
			t.Errorf("the image: %v", err)
		}
	})
}

func TestFakeFaultsAreToldWhichImage(t *testing.T) {
	inFake(t, func(t *testing.T, f *Fake) {
		var got []Call
		f.SetFault(func(c Call) Fault {
			got = append(got, c)
			return Fault{}
		})
		f.PullImage(t.Context(), "web:1", dockertools.Auth{}, noProgress)
		f.InspectImage(t.Context(), "web:2")
		if diff := cmp.Diff([]Call{{1, "PullImage", "web:1"}, {2, "InspectImage", "web:2"}}, got); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
	})
}
