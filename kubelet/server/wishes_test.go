package server

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"kubelet14/api"
	"kubelet14/api/unittest"
)

// A stop and a start answer when they are done, and say what there is to do otherwise.
func TestAPodIsStoppedAndStarted(t *testing.T) {
	k := withContainers()
	s := serve(t, k, func(o *Options) { k.fulfil(t, o) })
	for _, tt := range []struct {
		request string
		status  int
		words   string
	}{
		{"POST /start/web", 200, "pod web.default.file is not stopped: it is running; kubelet14 restart"},
		{"POST /stop/web.default?by=ada", 200, "pod web.default.file is stopped\n"},
		{"POST /stop/web?by=eve", 200, "pod web.default.file is stopped\n"},
		{"POST /start/web.default.file", 200, "pod web.default.file is running\n"},
		{"POST /restart/web", 200, "pod web.default.file is running\n"},
		{"POST /stop/twin", 409, "twin.default.etcd"},
		{"POST /stop/gone", 404, `no pod "gone"`},
		{"POST /stop/..%2F..%2Ftoken", 404, "no pod"},
		{"GET /stop/web", 405, ""},
		{"HEAD /restart/web", 405, ""},
	} {
		got := s.ask(t, tt.request, withToken)
		if got.status != tt.status || !strings.Contains(got.body, tt.words) {
			t.Errorf("%s: it answers %d %s", tt.request, got.status, got.body)
		}
	}
	k.set(func() { k.statuses[2].Phase = api.PodRemoving })
	if got := s.ask(t, "POST /stop/web", withToken); got.status != http.StatusConflict || !strings.Contains(got.body, "being removed") {
		t.Errorf("while it is removed: %d %s", got.status, got.body)
	}
}

// The answer waits until the pod is up, and says why it waits itself, fails or is gone.
func TestAnswersOfARestart(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(k *fakeKubelet, p *api.PodStatus)
		status int
		words  string
	}{
		"it fails": {func(_ *fakeKubelet, p *api.PodStatus) { p.Phase = api.PodFailing }, 409, "pod web.default.file is failing (failing): kubelet14 describe web.default.file"},
		"it waits": {func(_ *fakeKubelet, p *api.PodStatus) {
			p.Phase, p.Reason, p.Message = api.PodPending, "PortTaken", "80 is taken"
		}, 409, "remembered; pod web.default.file waits: PortTaken: 80 is taken"},
		"Docker is slow": {func(k *fakeKubelet, p *api.PodStatus) {
			p.Phase, p.Reason, p.Message = api.PodPending, api.ReasonDocker, "no answer"
			before := k.looks
			go func() {
				err := unittest.Wait(func() (err error) {
					k.set(func() {
						if k.looks == before {
							err = errors.New("nobody has looked")
						} else {
							k.statuses[2].Phase, k.statuses[2].Reason = api.PodRunning, ""
						}
					})
					return err
				})
				if k.publish(); err != nil {
					panic(err)
				}
			}()
		}, 200, "pod web.default.file is running"},
		"it is done": {func(_ *fakeKubelet, p *api.PodStatus) { p.Phase = api.PodSucceeded }, 200, "is succeeded"},
		"it is gone": {func(k *fakeKubelet, _ *api.PodStatus) { k.statuses = k.statuses[:2] }, 404, "has been removed"},
		"no Docker":  {func(k *fakeKubelet, _ *api.PodStatus) { k.err = http.ErrServerClosed }, 503, "done when Docker answers"},
	} {
		k := withContainers()
		s := serve(t, k, func(o *Options) { k.fulfil(t, o) })
		s.opts.Wishes.Tell(func(_, _, _, _ string) {
			k.set(func() { tt.change(k, &k.statuses[2]) })
		}, func() {
			go func() { // the next sync
				s.opts.Wishes.Keep(func(_, _ string) bool { return false })
				k.publish()
			}()
		})
		if got := s.ask(t, "POST /restart/web", withToken); got.status != tt.status || !strings.Contains(got.body, tt.words) {
			t.Errorf("%s: it answers %d %s", name, got.status, got.body)
		}
	}
}
