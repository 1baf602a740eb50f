package client

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	docker "github.com/fsouza/go-dockerclient"
	"github.com/google/go-cmp/cmp"

	"kubelet14/kubelet/dockertools"
)

// piece is what Docker sends of a stream: 1 is stdout, 2 is stderr.
func piece(stream byte, text string) string {
	return string(binary.BigEndian.AppendUint32([]byte{stream, 0, 0, 0}, uint32(len(text)))) + text
}

// execDaemon makes a client of a daemon that runs one command: start sends its
// output, and after is what the exec is, each time it is asked for.
func execDaemon(t *testing.T, start http.HandlerFunc, after ...string) *Client {
	return clientOf(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/containers/web/exec":
			answer(201, `{"Id":"0123"}`)(w, r)
		case "/exec/0123/start":
			start(w, r)
		case "/exec/0123/json":
			answer(200, after[0])(w, r)
			if len(after) > 1 { // the last one holds
				after = after[1:]
			}
		}
	})
}

func TestExecMixesBothStreamsInTheirOrder(t *testing.T) {
	long := strings.Repeat("x", 1<<17)
	c := execDaemon(t, answer(200, piece(1, "one\n")+piece(2, "two\n")+piece(1, "")+piece(1, long)), `{"ExitCode":3}`)
	var out bytes.Buffer
	code, err := c.Exec(t.Context(), "web", []string{"date"}, &out)
	if want := "one\ntwo\n" + long; err != nil || code != 3 || out.String() != want {
		t.Errorf("exit code %d, %v, and %d bytes of output, want %d", code, err, out.Len(), len(want))
	}
}

// The output can be closed long before the command ends.
func TestExecWaitsForTheExitCode(t *testing.T) {
	c := execDaemon(t, answer(200, ""), `{"Running":true}`, `{"Running":true}`, `{"Running":false,"ExitCode":3}`)
	if code, err := c.Exec(t.Context(), "web", []string{"date"}, io.Discard); err != nil || code != 3 {
		t.Errorf("exit code %d, %v", code, err)
	}
}

func TestExecIsRefusedAtItsStart(t *testing.T) {
	c := execDaemon(t, answer(409, `{"message":"Container 0123 is not running"}`), `{"ExitCode":0}`)
	if _, err := c.Exec(t.Context(), "web", []string{"date"}, io.Discard); err == nil || !strings.HasSuffix(err.Error(), ": Container 0123 is not running") {
		t.Errorf("got %v, want the daemon's own words", err)
	}
}

func TestExecReturnsItsCallersReason(t *testing.T) {
	tooLong := errors.New("too long")
	ctx, cancel := context.WithCancelCause(t.Context())
	c := execDaemon(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) // else the server does not notice that the client has gone
		io.WriteString(w, piece(1, "half"))
		http.NewResponseController(w).Flush()
		cancel(tooLong)
		<-r.Context().Done()
	}, `{"Pid":1}`)
	if _, err := c.Exec(ctx, "web", []string{"date"}, io.Discard); !errors.Is(err, tooLong) {
		t.Errorf("got %v, want the cause of the context's end", err)
	}
}

// hasBegun reports whether an error of Exec is about a command that has run.
func hasBegun(err error) bool { return !errors.Is(err, dockertools.ErrExecNotStarted) }

// A Docker that is busy keeps commands waiting, and their containers can do nothing
// about it.
func TestExecTellsWhetherTheCommandHasRun(t *testing.T) {
	for name, test := range map[string]struct {
		waitsAt string // where the daemon has the caller wait until it goes away
		state   string // of the command
		want    bool
	}{
		"not created":             {"/containers/web/exec", "", false},
		"created":                 {"/exec/0123/start", `{"Running":true,"Pid":0}`, false},
		"created, and not known":  {"/exec/0123/start", "", false},
		"running":                 {"/exec/0123/start", `{"Running":true,"Pid":4194305}`, true}, // no process has such a number
		"running with its output": {"/exec/0123/json", `{"Running":true,"Pid":4194305}`, true},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		c := clientOf(t, func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body) // else the server does not notice that the client has gone
			if r.URL.Path == test.waitsAt && ctx.Err() == nil {
				http.NewResponseController(w).Flush()
				cancel()
				<-r.Context().Done()
				return
			}
			switch r.URL.Path {
			case "/containers/web/exec":
				answer(201, `{"Id":"0123"}`)(w, r)
			case "/exec/0123/start":
				answer(200, "")(w, r)
			case "/exec/0123/json":
				answer(200, test.state)(w, r)
			}
		})
		_, err := c.Exec(ctx, "web", []string{"date"}, io.Discard)
		if !errors.Is(err, context.Canceled) || hasBegun(err) != test.want {
			t.Errorf("%s: %v tells that the command has run: %v, want %v", name, err, hasBegun(err), test.want)
		}
	}
}

// The caller bounds a log only when it is a json-file without being asked, and
// leaves alone what the daemon was configured to do.
func TestIntegrationTheDaemonHasItsWayWithLogs(t *testing.T) {
	d, hands := newContractDocker(t)
	made, err := hands.CreateContainer(docker.CreateContainerOptions{
		Context: t.Context(),
		Name:    d.name(t, "raw"), // as somebody else would make it
		Config:  &docker.Config{Image: helloImage, Cmd: []string{"/hello"}, Labels: map[string]string{labelTest: d.run}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer d.RemoveContainer(context.Background(), made.ID)
	c := d.Interface.(*Client)
	want := raw(t, c, made.ID).HostConfig.LogConfig
	if diff := cmp.Diff(want, raw(t, c, d.create(t, d.spec(t, "c", "sleep"))).HostConfig.LogConfig); diff != "" {
		t.Errorf("the log of a container without limits (-want +got):\n%s", diff)
	}
	if driver, err := d.LogDriver(t.Context()); err != nil || driver != want.Type {
		t.Errorf("the log driver is %q, %v; a container that does not say has %q", driver, err, want.Type)
	}
}
