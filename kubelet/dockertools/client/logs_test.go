package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"kubelet14/kubelet/dockertools"
)

// logDaemon makes a client of a daemon with one container, whose log is what send
// sends.
func logDaemon(t *testing.T, send http.HandlerFunc) *Client {
	return clientOf(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/containers/web/logs" {
			t.Errorf("asked for %s", r.URL.Path)
		}
		send(w, r)
	})
}

// linesOf reads a whole log as "seconds stream text".
func linesOf(t *testing.T, c *Client) (lines []string, err error) {
	t.Helper()
	err = c.Logs(t.Context(), "web", wholeLog, func(line dockertools.LogLine) error {
		stream := "out"
		if line.Stderr {
			stream = "err"
		}
		lines = append(lines, fmt.Sprintf("%d %s %s", line.Time.Second(), stream, line.Text))
		return nil
	})
	return lines, err
}

const stamp = "2026-11-21T16:40:%02d.614926242Z "

func stamped(stream byte, second int, text string) string {
	return piece(stream, fmt.Sprintf(stamp, second)+text)
}

func TestLogLinesAreWhole(t *testing.T) {
	half := strings.Repeat("x", 16<<10)
	var endless, parts string
	for range 5 {
		endless += stamped(1, 9, half)
	}
	parts = strings.Repeat(half, 4)
	for name, test := range map[string]struct {
		sent string
		want []string
	}{
		"none":                             {"", nil},
		"one":                              {stamped(1, 1, "one\n"), []string{"1 out one\n"}},
		"an empty one":                     {stamped(1, 1, "\n"), []string{"1 out \n"}},
		"one that looks like a time":       {stamped(1, 1, fmt.Sprintf(stamp, 2)+"two\n"), []string{"1 out " + fmt.Sprintf(stamp, 2) + "two\n"}},
		"both streams":                     {stamped(1, 1, "one\n") + stamped(2, 2, "two\n"), []string{"1 out one\n", "2 err two\n"}},
		"a long one":                       {stamped(1, 1, half) + stamped(1, 1, half+"\n"), []string{"1 out " + half + half + "\n"}},
		"a long one and the other stream":  {stamped(1, 1, half) + stamped(2, 2, "two\n") + stamped(1, 1, "rest\n"), []string{"2 err two\n", "1 out " + half + "rest\n"}},
		"one whose end never comes":        {stamped(1, 1, half), []string{"1 out " + half}},
		"one whose end comes after 64 KiB": {endless + stamped(1, 9, "\n"), []string{"9 out " + parts, "9 out " + half + "\n"}},
		"one without a time":               {stamped(1, 1, "one\n") + piece(1, "two\n"), []string{"1 out one\n", "1 out two\n"}},
	} {
		got, err := linesOf(t, logDaemon(t, answer(200, test.sent)))
		if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%.500s", name, err, diff)
		}
	}
}

func TestALogThatIsCutIsAnError(t *testing.T) {
	whole := stamped(1, 1, "one\n")
	for name, sent := range map[string]string{
		"by Docker's own words":   whole + piece(3, "Error grabbing logs: out of cheese"),
		"by what is no piece":     whole + piece(7, "text"),
		"by a stream that breaks": "",
	} {
		got, err := linesOf(t, logDaemon(t, func(w http.ResponseWriter, r *http.Request) {
			if sent == "" {
				io.WriteString(w, whole)
				http.NewResponseController(w).Flush()
				panic(http.ErrAbortHandler)
			}
			answer(200, sent)(w, r)
		}))
		if err == nil || !strings.Contains(err.Error(), `"web"`) {
			t.Errorf("%s: %v, want an error that names the container", name, err)
		}
		if len(got) != 1 {
			t.Errorf("%s: the line before is lost: %q", name, got)
		}
	}
}

// slowLog makes a client whose daemon sends a line every so often, and n of them.
func slowLog(t *testing.T, n int, every time.Duration) *Client {
	c := mustClient(t, "tcp://192.0.2.1:2375")
	c.network = roundTripper(func(req *http.Request) (*http.Response, error) {
		r, w := io.Pipe()
		context.AfterFunc(req.Context(), func() { r.CloseWithError(req.Context().Err()) })
		go func() {
			for range n {
				time.Sleep(every)
				if _, err := io.WriteString(w, stamped(1, 1, "line\n")); err != nil {
					return
				}
			}
			w.Close()
		}()
		return &http.Response{StatusCode: http.StatusOK, Body: r, Request: req}, nil
	})
	return c
}

// The limit is one on Docker's silence: a log may be long, whoever reads it slow, and
// one that is followed silent.
func TestLogsEndWhenDockerIsSilentTooLong(t *testing.T) {
	for name, test := range map[string]struct {
		follow       bool
		every, takes time.Duration // that a line takes to come, and to be read
		want         int
	}{
		"a long log":             {false, callLimit - time.Second, 0, 5},
		"a slow reader":          {false, time.Second, time.Hour, 5},
		"a silent Docker":        {false, callLimit + time.Second, 0, 0},
		"a log that is followed": {true, 24 * time.Hour, 0, 5},
	} {
		synctest.Test(t, func(t *testing.T) {
			opts := wholeLog
			opts.Follow = test.follow
			got := 0
			err := slowLog(t, 5, test.every).Logs(t.Context(), "web", opts, func(dockertools.LogLine) error {
				got++
				time.Sleep(test.takes)
				return nil
			})
			if got != test.want || (err == nil) != (test.want == 5) {
				t.Errorf("%s: %d lines, %v; want %d", name, got, err, test.want)
			}
			if err != nil && (isContextError(err) || !strings.Contains(err.Error(), "no answer")) {
				t.Errorf("%s: %v, want an error about the missing answer", name, err)
			}
			time.Sleep(test.every) // the daemon ends
		})
	}
}

func TestLogsAskForWhatIsWanted(t *testing.T) {
	at := time.Unix(1700000000, 42)
	for want, opts := range map[string]dockertools.LogOptions{ // each query by name
		"stderr=1&stdout=1&tail=-1&timestamps=1":                            wholeLog,
		"stderr=1&tail=5&timestamps=1":                                      {Tail: 5, Stderr: true},
		"follow=1&since=1700000000.000000042&stdout=1&tail=-1&timestamps=1": {Tail: -1, Stdout: true, Follow: true, Since: at},
		"since=1700000000.000000042&stdout=1&tail=0&timestamps=1":           {Stdout: true, Since: at},
	} {
		if got := logQuery(opts).Encode(); got != want {
			t.Errorf("%+v asks for %s, want %s", opts, got, want)
		}
	}
}

func TestLogsReturnTheReadersErrorAsItIs(t *testing.T) {
	enough := errors.New("enough")
	c := logDaemon(t, answer(200, stamped(1, 1, "one\n")+stamped(1, 2, "two\n")))
	if err := c.Logs(t.Context(), "web", wholeLog, func(dockertools.LogLine) error { return enough }); err != enough {
		t.Errorf("got %v", err)
	}
}
