package dockertools

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

func TestExecWhoseOutputIsCutIsAnError(t *testing.T) {
	for _, sent := range []string{piece(1, "text")[:10], piece(1, "text") + "\x01\x00"} {
		c := execDaemon(t, answer(200, sent), `{"ExitCode":0,"Pid":1}`)
		if code, err := c.Exec(t.Context(), "web", []string{"date"}, io.Discard); err == nil {
			t.Errorf("cut off after %q it ended with %d and no error", sent, code)
		}
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

// rawHello is a container as somebody else would make it.
func rawHello(t *testing.T, d *contractDocker, name string, command ...string) docker.CreateContainerOptions {
	return docker.CreateContainerOptions{
		Context: t.Context(),
		Name:    d.name(t, name),
		Config: &docker.Config{
			Image:  helloImage,
			Cmd:    append([]string{"/hello"}, command...),
			Labels: map[string]string{labelTest: d.run},
		},
	}
}

func TestIntegrationLogsOfATerminalAreRead(t *testing.T) {
	d, raw := newContractDocker(t)
	options := rawHello(t, d, "c", "flood", "-lines", "2")
	options.Config.Tty = true
	made, err := raw.CreateContainer(options)
	if err != nil {
		t.Fatal(err)
	}
	defer d.RemoveContainer(context.Background(), made.ID)
	d.start(t, made.ID)
	d.ended(t, made.ID)
	if got := strings.ReplaceAll(d.log(t, made.ID, wholeLog), "\r", ""); got != flood("2") {
		t.Errorf("the log is %q", got)
	}
}

// The caller bounds a log only when it is a json-file without being asked, and
// leaves alone what the daemon was configured to do.
func TestIntegrationTheDaemonHasItsWayWithLogs(t *testing.T) {
	d, docker := newContractDocker(t)
	made, err := docker.CreateContainer(rawHello(t, d, "raw"))
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
