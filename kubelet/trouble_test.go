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
	web := dockertools.NameParts{Name: "web", Hash: "0", PodFullName: "p.default.file", UID: "u", Attempt: 1}
	byName := func(method string, err error) error { return fmt.Errorf("%s %q: %w", method, web.String(), err) }
	byID := func(method string, err error) error { return fmt.Errorf("%s %q: %w", method, "c0ffee", err) }
	for _, test := range []struct {
		name            string
		kind            actionKind
		err             error
		reason, message string
	}{
		{"a command that is not there", startAction, byID("start container", errors.New(words+`exec: "/nosuch": stat /nosuch: no such file or directory: unknown`)),
			api.ReasonCommandNotFound, `could not start: API error (400): exec: "/nosuch": stat /nosuch: no such file or directory`},
		{"a command that is not on the path", startAction, byID("start container", errors.New(words+`exec: "nosuch": executable file not found in $PATH: unknown`)),
			api.ReasonCommandNotFound, `could not start: API error (400): exec: "nosuch": executable file not found in $PATH`},
		{"a command that is no program", startAction, byID("start container", errors.New(words+`exec: "/etc": permission denied: unknown`)),
			api.ReasonCommandNotFound, `could not start: API error (400): exec: "/etc": permission denied`},
		{"a port that a program has", startAction, byID("start container", errors.New(portWords)), api.ReasonPortTaken, "could not start: " + portWords},
		{"a port that a container has", startAction, byID("start container", errors.New("Bind for 0.0.0.0:80 failed: port is already allocated")),
			api.ReasonPortTaken, "could not start: Bind for 0.0.0.0:80 failed: port is already allocated"},
		{"any other start", startAction, byID("start container", errors.New("the moon is full")), api.ReasonCannotStart, "could not start: the moon is full"},
		{"a directory of the host that is not there", createAction, byName("create container", errors.New(`invalid mount config for type "bind": bind source path does not exist: /data`)),
			api.ReasonHostDirMissing, `cannot be created: invalid mount config for type "bind": bind source path does not exist: /data`},
		{"any other creation", createAction, byName("create container", errors.New("the disk is full")), api.ReasonCannotCreate, "cannot be created: the disk is full"},
		{"a volume", createAction, fmt.Errorf("set up volume %q: %w", "data", errors.New("permission denied")),
			api.ReasonCannotCreate, `cannot be created: set up volume "data": permission denied`},
		{"a name that is taken after all", createAction, fmt.Errorf("%w by a container of this pod", byName("create container", dockertools.ErrNameTaken)),
			api.ReasonCannotCreate, "cannot be created: the container name is taken by a container of this pod"},
		{"privileged", createAction, errPrivileged, api.ReasonPrivilegedRefused, errPrivileged.Error()},
		{"a hook", hookAction, trouble{reason: api.ReasonHookFailed, message: "its postStart hook failed: exit code 1"}, api.ReasonHookFailed, "its postStart hook failed: exit code 1"},
		{"a hook that cannot be noted", hookAction, byID("rename container", errors.New("no answer")), api.ReasonDocker, `rename container "c0ffee": no answer`},
		{"a stop", stopAction, byID("stop container", errors.New("no answer")), api.ReasonDocker, `stop container "c0ffee": no answer`},
		{"a removal", removeAction, byID("remove container", errors.New("device busy")), api.ReasonDocker, `remove container "c0ffee": device busy`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := troubleOf(&action{kind: test.kind, name: web, id: "c0ffee"}, test.err)
			if got.container != "web" || got.reason != test.reason || got.message != test.message || got.waits() {
				t.Errorf("%+v, want %s: %s, of a failure", got, test.reason, test.message)
			}
		})
	}
}

// Who makes an error whose reason is known says it, and when it may be over.
func TestTroubleThatWaits(t *testing.T) {
	at := time.Unix(7, 0)
	known := trouble{reason: api.ReasonPullFailed, message: "not yet", next: at}
	got := troubleOf(&action{kind: createAction, name: dockertools.NameParts{Name: "web"}}, fmt.Errorf("create: %w", known))
	if want := (trouble{"web", api.ReasonPullFailed, "not yet", at}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	for _, waits := range []trouble{{next: at}, {reason: api.ReasonPulling}} {
		if !waits.waits() {
			t.Errorf("%+v is called a failure", waits)
		}
	}
}
