package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"kubelet14/api"
	"kubelet14/api/unittest"
	"kubelet14/kubelet/dockertools"
)

func TestTheList(t *testing.T) {
	got, err := clientOf(t, answer(200, `[{
		"Id": "0123", "Names": ["/other/alias", "/web"], "Image": "x:1", "Created": 1700000000,
		"Labels": {"a": "b"}, "State": "running", "Status": "Up 2 hours",
		"Ports": [
			{"IP": "0.0.0.0", "PrivatePort": 80, "PublicPort": 8080, "Type": "tcp"},
			{"IP": "::",      "PrivatePort": 80, "PublicPort": 8080, "Type": "tcp"},
			{"IP": "127.0.0.1", "PrivatePort": 53, "PublicPort": 53, "Type": "udp"},
			{"PrivatePort": 443, "Type": "tcp"}],
		"NetworkSettings": {"Networks": {"b": {"EndpointID": "e2"}, "a": {"EndpointID": "e1"}, "c": {}}}
	}, {"Id": "4567", "State": "removing", "Ports": [{"PrivatePort": 80, "PublicPort": 8080, "Type": "tcp"}]}]`)).ListContainers(t.Context(), nil)
	want := []dockertools.Container{{
		ID: "0123", Name: "web", Image: "x:1", Labels: map[string]string{"a": "b"},
		ListState: dockertools.StateRunning, Status: "Up 2 hours", Created: time.Unix(1700000000, 0), Endpoint: "e1e2",
		Ports: []api.Port{
			{HostIP: "127.0.0.1", HostPort: 53, ContainerPort: 53, Protocol: api.ProtocolUDP},
			{HostPort: 8080, ContainerPort: 80, Protocol: api.ProtocolTCP},
		},
	}, {ID: "4567", ListState: dockertools.StateRemoving, Created: time.Unix(0, 0)}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v, -want +got\n%s", err, diff)
	}
}

// In Docker 26 and newer a start is canceled with its caller.
func TestAStartThatWasCutOffIsNoFailure(t *testing.T) {
	for text, want := range map[string]string{
		"context canceled":           "",
		"Canceled: context canceled": "",
		"context deadline exceeded":  "context deadline exceeded",
	} {
		got, err := clientOf(t, answer(200, fmt.Sprintf(`{"State": {"Status": "created", "Error": %q, "ExitCode": 128}}`, text))).InspectContainer(t.Context(), "web")
		if got.Error != want || (got.ExitCode == 0) != (want == "") || err != nil {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
}

func TestWhereTheImagesAre(t *testing.T) {
	host, err := os.Hostname()
	unittest.Must(t, err)
	defer func(usual string) { containerdRootDir = usual }(containerdRootDir)
	dir := t.TempDir()
	for _, c := range []struct{ endpoint, name, driver, containerd, want string }{
		{"unix:///run/docker.sock", host, "", dir, "/data/docker"},
		{"unix:///run/docker.sock", host, "io.containerd.snapshotter.v1", dir, dir},
		{"unix:///run/docker.sock", host, "io.containerd.snapshotter.v1", dir + "/none", "/data/docker"},
		{"unix:///run/docker.sock", "another", "", dir, ""},
		{"tcp://127.0.0.1:2375", host, "", dir, ""},
	} {
		containerdRootDir = c.containerd
		docker := clientOf(t, answer(200, fmt.Sprintf(`{"Name": %q, "DockerRootDir": "/data/docker", "DriverStatus": [["driver-type", %q]]}`, c.name, c.driver)))
		docker.endpoint = c.endpoint
		if got, err := docker.Info(t.Context()); got.RootDir != c.want || err != nil {
			t.Errorf("%+v: they are in %q, %v", c, got.RootDir, err)
		}
	}
}

func TestTheAddressIsThatInTheNetworkOfTheCreation(t *testing.T) {
	const body = `{"HostConfig": {"NetworkMode": %q}, "NetworkSettings": {"Networks": {
		"a": {"IPAddress": "10.0.0.1"}, "bridge": {"IPAddress": "10.0.0.2"}, "pods": {"IPAddress": "10.0.0.3"}}}}`
	for mode, want := range map[string]string{"pods": "10.0.0.3", "bridge": "10.0.0.2", "default": "10.0.0.2", "disconnected": "10.0.0.1"} {
		got, err := clientOf(t, answer(200, fmt.Sprintf(body, mode))).InspectContainer(t.Context(), "web")
		if got.IP != want || err != nil {
			t.Errorf("%s: address %q, want %q; %v", mode, got.IP, want, err)
		}
	}
}

// Docker's answers differ with the kernel's cgroups.
func TestStats(t *testing.T) {
	read := time.Date(2026, 11, 21, 16, 36, 7, 0, time.UTC)
	for name, test := range map[string]struct {
		answer string
		want   api.ContainerStats
	}{
		"v1": {`{"read":"2026-11-21T16:36:07Z",
			"cpu_stats":{"cpu_usage":{"total_usage":32,"percpu_usage":[1,31],"usage_in_kernelmode":10,"usage_in_usermode":20}},
			"memory_stats":{"usage":6000,"stats":{"inactive_file":1000,"total_inactive_file":4000}},
			"networks":{"eth0":{"rx_bytes":200,"rx_packets":2,"rx_errors":1,"rx_dropped":3,"tx_bytes":100,"tx_packets":4,"tx_errors":5,"tx_dropped":6}}}`,
			api.ContainerStats{Time: read, CPU: api.CPUStats{Total: 32, User: 20, System: 10, PerCPU: []uint64{1, 31}},
				Memory:  api.MemoryStats{Usage: 6000, WorkingSet: 2000},
				Network: api.NetworkStats{RxBytes: 200, RxPackets: 2, RxErrors: 1, RxDropped: 3, TxBytes: 100, TxPackets: 4, TxErrors: 5, TxDropped: 6}}},
		"v2, in two networks": {`{"read":"2026-11-21T16:36:07Z",
			"memory_stats":{"usage":6000,"stats":{"inactive_file":1000}}, "networks":{"eth0":{"rx_bytes":200},"eth1":{"rx_bytes":1,"tx_bytes":2}}}`,
			api.ContainerStats{Time: read, Memory: api.MemoryStats{Usage: 6000, WorkingSet: 5000}, Network: api.NetworkStats{RxBytes: 201, TxBytes: 2}}},
		"more inactive than used": {`{"read":"2026-11-21T16:36:07Z","memory_stats":{"usage":1,"stats":{"inactive_file":2}}}`,
			api.ContainerStats{Time: read, Memory: api.MemoryStats{Usage: 1}}},
	} {
		got, err := clientOf(t, answer(200, test.answer)).Stats(t.Context(), "web")
		if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

func TestLogLines(t *testing.T) {
	half := strings.Repeat("x", 16<<10)
	for name, test := range map[string]struct {
		sent string
		want []string
	}{
		"none":                       {"", nil},
		"one that looks like a time": {stamped(1, 1, fmt.Sprintf(stamp, 2)+"two\n"), []string{"1 " + fmt.Sprintf(stamp, 2) + "two\n"}},
		"both streams":               {stamped(1, 1, "one\n") + stamped(2, 2, "two\n"), []string{"1 one\n", "2 two\n"}},
		"a long one":                 {stamped(1, 1, half) + stamped(1, 1, "rest\n"), []string{"1 " + half, "1 rest\n"}},
		"one without a time":         {stamped(1, 1, "one\n") + piece(1, "two\n"), []string{"1 one\n", "0 two\n"}},
		"of a terminal":              {fmt.Sprintf(stamp, 1) + "one\r\n" + fmt.Sprintf(stamp, 2) + half + "\n" + fmt.Sprintf(stamp, 3) + "rest", []string{"1 one\r\n", "2 " + half + "\n", "3 rest"}},
		"one before Docker's error":  {stamped(1, 1, "one\n") + piece(3, "out of cheese"), []string{"1 one\n", "error"}},
		"one before an abrupt end":   {stamped(1, 1, "one\n") + "abort", []string{"1 one\n", "error"}},
	} {
		var got []string
		sent, abort := strings.CutSuffix(test.sent, "abort")
		c := clientOf(t, func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, sent)
			if abort {
				http.NewResponseController(w).Flush()
				panic(http.ErrAbortHandler)
			}
		})
		err := c.Logs(t.Context(), "web", wholeLog, func(line dockertools.LogLine) error {
			got = append(got, fmt.Sprintf("%d %s", line.Time.Second(), line.Text))
			return nil
		})
		if err != nil {
			got = append(got, "error")
		}
		if diff := cmp.Diff(test.want, got); diff != "" || err != nil && !strings.Contains(err.Error(), `"web"`) {
			t.Errorf("%s: %v (-want +got):\n%.500s", name, err, diff)
		}
	}
}

func TestPullProgress(t *testing.T) {
	steps := []struct {
		message string
		want    [4]int64 // layers, done, bytes, of
	}{
		{`{"status":"Pulling from web","id":"1"}`, [4]int64{0, 0, 0, 0}},
		{`{"status":"Already exists","progressDetail":{},"id":"aaa"}`, [4]int64{1, 1, 0, 0}},
		{`{"status":"Pulling fs layer","progressDetail":{},"id":"bbb"}`, [4]int64{2, 1, 0, 0}},
		{`{"status":"Downloading","progressDetail":{"current":10,"total":100},"id":"bbb"}`, [4]int64{2, 1, 10, 100}},
		{`{"status":"Downloading","progressDetail":{"current":7,"total":-1},"id":"ccc"}`, [4]int64{3, 1, 17, 107}}, // the registry does not say how much
		{`{"status":"Verifying Checksum","progressDetail":{},"id":"bbb"}`, [4]int64{3, 1, 17, 107}},
		{`{"status":"Download complete","progressDetail":{},"id":"bbb"}`, [4]int64{3, 1, 107, 107}},
		{`{"status":"Extracting","progressDetail":{"current":3,"total":100},"id":"bbb"}`, [4]int64{3, 1, 107, 107}},
		{`{"status":"Pull complete","progressDetail":{},"id":"bbb"}`, [4]int64{3, 2, 107, 107}},
		{`{"status":"Downloading","progressDetail":{"current":1,"total":10},"id":"ddd"}`, [4]int64{4, 2, 108, 117}},
		{`{"status":"Pull complete","progressDetail":{},"id":"ddd"}`, [4]int64{4, 3, 117, 117}}, // with nothing in between
		{`{"status":"Downloading","progressDetail":{"current":1,"total":10},"id":"eee"}`, [4]int64{5, 3, 118, 127}},
		{`{"status":"Extracting","progressDetail":{"current":1,"total":10},"id":"eee"}`, [4]int64{5, 3, 127, 127}},
		{`{"status":"Status: Downloaded newer image for web:1"}`, [4]int64{5, 3, 127, 127}},
	}
	var messages strings.Builder
	for _, s := range steps {
		messages.WriteString(s.message + "\r\n")
	}
	i := 0
	pull := func(messages string) error {
		return clientOf(t, answer(200, messages)).PullImage(t.Context(), "web:1", dockertools.Auth{}, func(p dockertools.PullProgress) {
			if got := [4]int64{int64(p.Layers), int64(p.LayersDone), p.Bytes, p.TotalBytes}; got != steps[i].want {
				t.Errorf("after %s: %v, want %v", steps[i].message, got, steps[i].want)
			}
			i++
		})
	}
	if err := pull(messages.String()); err != nil || i != len(steps) {
		t.Errorf("%d of %d messages, %v", i, len(steps), err)
	}
	i = 0
	if err := pull(steps[0].message + `{"status":"Downlo`); err == nil {
		t.Error("a stream that ends in the middle of a message is no error")
	}
}

// The contract tests the other names of images and the password.
func TestPullRequest(t *testing.T) {
	token := dockertools.Auth{IdentityToken: "token?>~", ServerAddress: "example.com"}
	c := clientOf(t, func(_ http.ResponseWriter, r *http.Request) {
		if got, want := r.Method+" "+r.URL.String(), "POST /images/create?fromImage=docker.io%2Flibrary%2Fweb%3Alatest"; got != want {
			t.Errorf("asked with %s, want %s", got, want)
		}
		var got dockertools.Auth
		text, err := base64.URLEncoding.DecodeString(r.Header.Get("X-Registry-Auth"))
		unittest.Must(t, err, json.Unmarshal(text, &got))
		if got != token {
			t.Errorf("the daemon gets %q, want %q", got, token)
		}
	})
	unittest.Must(t, c.PullImage(t.Context(), "web", token, noProgress))
	unittest.Says(t, hung(t).PullImage(t.Context(), "Not An Image", dockertools.Auth{}, noProgress), `"Not An Image"`)
}

// Docker refuses a quota below a millisecond.
func TestCPULimit(t *testing.T) {
	for milli, want := range map[int64]int64{0: 0, 1: 1000, 1500: 150_000} {
		if got := createOptions(&dockertools.ContainerSpec{CPULimit: milli}).HostConfig.CPUQuota; got != want {
			t.Errorf("%d thousandths of a core: a quota of %d, want %d", milli, got, want)
		}
	}
}

// execDaemon imitates a daemon that runs one command: start is its output, and states are the answers to the inspects,
// the last one repeated for ever.
func execDaemon(start http.HandlerFunc, states ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/containers/web/exec":
			answer(201, `{"Id":"0123"}`)(w, r)
		case "/exec/0123/start":
			start(w, r)
		case "/exec/0123/json":
			answer(200, states[0])(w, r)
			if len(states) > 1 {
				states = states[1:]
			}
		}
	}
}

// until begins to send the output of a command, calls then, and waits until the caller has gone away.
func until(then func()) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) // else the server does not notice that the client has gone
		http.NewResponseController(w).Flush()
		then()
		<-r.Context().Done()
	}
}

func hasBegun(err error) bool { return !errors.Is(err, dockertools.ErrExecNotStarted) }

func TestExecMixesBothStreamsAndWaitsForTheEnd(t *testing.T) {
	long := strings.Repeat("x", 1<<17)
	c := clientOf(t, execDaemon(answer(200, piece(1, "one\n")+piece(2, "two\n")+piece(1, "")+piece(1, long)),
		`{"Running":true}`, `{"Running":true}`, `{"Running":false,"ExitCode":3}`))
	var out bytes.Buffer
	code, err := c.Exec(t.Context(), "web", []string{"date"}, &out)
	if want := "one\ntwo\n" + long; err != nil || code != 3 || out.String() != want {
		t.Errorf("exit code %d, %v, and %d bytes of output, want %d", code, err, out.Len(), len(want))
	}
	c = clientOf(t, execDaemon(answer(409, `{"message":"Container 0123 is not running"}`), `{"ExitCode":0}`))
	if _, err := c.Exec(t.Context(), "web", []string{"date"}, io.Discard); !errors.Is(err, dockertools.ErrNotRunning) || hasBegun(err) {
		t.Errorf("refused at its start: %v", err)
	}
}

// A busy Docker keeps commands waiting, which is not the fault of their containers.
func TestExecReportsWhetherTheCommandHasRun(t *testing.T) {
	const noProcess = 4194305 // no process has this number
	for state, want := range map[string]bool{
		`{"Running":true,"Pid":0}`: false,
		"":                         false,
		fmt.Sprintf(`{"Running":true,"Pid":%d}`, noProcess):                          true,
		fmt.Sprintf(`{"Running":true,"Pid":0} {"Running":true,"Pid":%d}`, noProcess): true, // started a moment later
	} {
		tooLong := errors.New("too long")
		ctx, cancel := context.WithCancelCause(t.Context())
		c := clientOf(t, execDaemon(until(func() { cancel(tooLong) }), strings.Split(state, " ")...))
		if _, err := c.Exec(ctx, "web", []string{"date"}, io.Discard); !errors.Is(err, tooLong) || hasBegun(err) != want {
			t.Errorf("%s: %v reports that the command has run: %v, want %v", state, err, hasBegun(err), want)
		}
	}
	// It had ended by itself when its caller gave up, and Docker was late to say so.
	for exit, want := range map[int]bool{0: true, 3: true, 137: false} {
		ctx, cancel := context.WithCancel(t.Context())
		c := clientOf(t, execDaemon(until(cancel), fmt.Sprintf(`{"Running":true,"Pid":%d}`, noProcess), fmt.Sprintf(`{"ExitCode":%d,"Pid":%d}`, exit, noProcess)))
		if code, err := c.Exec(ctx, "web", []string{"date"}, io.Discard); (err == nil && code == exit) != want || !hasBegun(err) {
			t.Errorf("it ended with %d: code %d, %v", exit, code, err)
		}
	}
	if _, err := clientOf(t, answer(500, "")).Exec(t.Context(), "web", []string{"date"}, io.Discard); err == nil || hasBegun(err) {
		t.Errorf("not created: %v", err)
	}
	const frozen = "failed to start io pipe copy: unable to copy pipes: containerd-shim: context deadline exceeded: unknown\r\n"
	for _, tt := range []struct {
		printed, state string
		want           bool
	}{
		{frozen, `{"ExitCode":126}`, false},
		{"OCI runtime exec failed: exec failed: permission denied: unknown\r\n", `{"ExitCode":126}`, true},
		{frozen, fmt.Sprintf(`{"ExitCode":126,"Pid":%d}`, noProcess), true}, // the command's own words
		{"", `{"ExitCode":126}`, true},
	} {
		c := clientOf(t, execDaemon(answer(200, piece(1, tt.printed)), tt.state))
		code, err := c.Exec(t.Context(), "web", []string{"date"}, io.Discard)
		if hasBegun(err) != tt.want || (err == nil) != tt.want || (code == 126) != tt.want {
			t.Errorf("%q, %s: code %d, %v", tt.printed, tt.state, code, err)
		}
	}
}

func TestACommandMayPrintNothingForADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		others, start := streamOf(t, 0, true, `{"Id":"0123","ExitCode":3}`), streamOf(t, 24*time.Hour, true, "")
		c := transportOf(t, func(req *http.Request) (*http.Response, error) {
			if strings.HasSuffix(req.URL.Path, "/start") {
				return start.network.RoundTrip(req)
			}
			return others.network.RoundTrip(req)
		})
		if code, err := c.Exec(t.Context(), "web", []string{"date"}, io.Discard); code != 3 || err != nil {
			t.Errorf("exit code %d, %v", code, err)
		}
	})
}

// The contract tests which processes are killed.
func TestExecKillsNothingElse(t *testing.T) {
	cmd := exec.Command("cat")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // as Docker starts one
	out, outErr := cmd.StdoutPipe()
	in, inErr := cmd.StdinPipe()
	unittest.Must(t, outErr, inErr, cmd.Start())
	defer cmd.Wait()
	defer in.Close()
	lines := bufio.NewReader(out)
	answers := func(what string) {
		t.Helper()
		io.WriteString(in, "here\n")
		if line, err := lines.ReadString('\n'); line != "here\n" || err != nil {
			t.Errorf("%s: it was killed: it prints %q, %v", what, line, err)
		}
	}
	cgroups, err := os.ReadFile("/proc/self/cgroup")
	unittest.Must(t, err)
	cgroup, _, _ := strings.Cut(string(cgroups), "\n") // in place of a container's id
	state, err := json.Marshal(execState{Running: true, Pid: cmd.Process.Pid, ContainerID: cgroup})
	unittest.Must(t, err)

	ctx, cancel := context.WithCancel(t.Context())
	server := httptest.NewServer(execDaemon(until(cancel), string(state)))
	defer server.Close()
	c := mustClient(t, "tcp://"+server.Listener.Addr().String())
	if _, err := c.Exec(ctx, "web", []string{"date"}, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	answers("its number is that of a process on Docker's host")
	for _, id := range []string{strings.Repeat("0123456789abcdef", 4), ""} {
		if err := killGroup(cmd.Process.Pid, id); err == nil {
			t.Errorf("a process that is not in container %q is killed", id)
		}
		answers("it is in another container")
	}
}
