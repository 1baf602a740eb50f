package kubelet

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
)

// What Docker 20.10 says of a start that fails.
const (
	words     = "API error (400): failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: "
	portWords = "API error (500): driver failed programming external connectivity on endpoint k8s_net (ab): Error starting userland proxy: listen tcp4 0.0.0.0:80: bind: address already in use"
)

func TestTroubleOfAnAction(t *testing.T) {
	failed := func(method string, err error) error { return fmt.Errorf("%s %q: %w", method, "k8s_web", err) }
	for _, test := range []struct {
		name            string
		kind            actionKind
		err             error
		reason, message string
	}{
		{"a command that is not there", startAction, failed("StartContainer", errors.New(words+`exec: "/nosuch": stat /nosuch: no such file or directory: unknown`)),
			api.ReasonCommandNotFound, `could not start: API error (400): exec: "/nosuch": stat /nosuch: no such file or directory`},
		{"a command that is not on the path", startAction, failed("StartContainer", errors.New(words+`exec: "nosuch": executable file not found in $PATH: unknown`)),
			api.ReasonCommandNotFound, `could not start: API error (400): exec: "nosuch": executable file not found in $PATH`},
		{"a command that is no program", startAction, failed("StartContainer", errors.New(words+`exec: "/etc": permission denied: unknown`)),
			api.ReasonCommandNotFound, `could not start: API error (400): exec: "/etc": permission denied`},
		{"a port that a program has", startAction, failed("StartContainer", errors.New(portWords)), api.ReasonPortTaken, "could not start: " + portWords},
		{"a port that a container has", startAction, failed("StartContainer", errors.New("Bind for 0.0.0.0:80 failed: port is already allocated")),
			api.ReasonPortTaken, "could not start: Bind for 0.0.0.0:80 failed: port is already allocated"},
		{"any other start", startAction, failed("StartContainer", errors.New("the moon is full")), api.ReasonCannotStart, "could not start: the moon is full"},
		{"a directory of the host that is not there", createAction, failed("CreateContainer", errors.New(`invalid mount config for type "bind": bind source path does not exist: /data`)),
			api.ReasonHostDirMissing, `cannot be created: invalid mount config for type "bind": bind source path does not exist: /data`},
		{"any other creation", createAction, failed("CreateContainer", errors.New("the disk is full")), api.ReasonCannotCreate, "cannot be created: the disk is full"},
		{"privileged", createAction, errPrivileged, api.ReasonPrivilegedRefused, errPrivileged.Error()},
		{"a hook", hookAction, errors.New("its postStart hook failed: exit code 1"), api.ReasonHookFailed, "its postStart hook failed: exit code 1"},
		{"a stop", stopAction, failed("StopContainer", errors.New("no answer")), api.ReasonDocker, `StopContainer "k8s_web": no answer`},
		{"a removal", removeAction, failed("RemoveContainer", errors.New("device busy")), api.ReasonDocker, `RemoveContainer "k8s_web": device busy`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := troubleOf(action{kind: test.kind, name: dockertools.NameParts{Name: "web"}}, test.err)
			if got.container != "web" || got.reason != test.reason || got.message != test.message || got.waits() {
				t.Errorf("%+v, want %s: %s, of a failure", got, test.reason, test.message)
			}
		})
	}
}

// Who makes an error whose reason is known says it, and when it may be over.
func TestTroubleThatWaits(t *testing.T) {
	at, done := time.Unix(7, 0), make(chan struct{})
	known := &reasonError{errors.New("not yet"), api.ReasonPulling, at, done}
	got := troubleOf(action{kind: createAction}, fmt.Errorf("create: %w", known))
	if got.reason != api.ReasonPulling || got.message != "not yet" || got.next != at || got.done != done || !got.waits() {
		t.Errorf("%+v, want what the error says", got)
	}
	for _, waits := range []trouble{{next: at}, {done: done}} {
		if !waits.waits() {
			t.Errorf("%+v is called a failure", waits)
		}
	}
}
