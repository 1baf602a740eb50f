package client

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kubelet14/kubelet/dockertools"
)

// hung makes a client of a daemon that takes requests and never answers.
func hung(t *testing.T) *Client {
	c := mustClient(t, "tcp://192.0.2.1:2375")
	c.network = roundTripper(func(req *http.Request) (*http.Response, error) {
		<-req.Context().Done()
		return nil, req.Context().Err()
	})
	return c
}

func isContextError(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// calls are all calls that wait for an answer.
func calls(c *Client) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"version": func(ctx context.Context) error { _, err := c.Version(ctx); return err },
		"list":    func(ctx context.Context) error { _, err := c.ListContainers(ctx, nil); return err },
		"inspect": func(ctx context.Context) error { _, err := c.InspectContainer(ctx, "x"); return err },
		"create": func(ctx context.Context) error {
			_, err := c.CreateContainer(ctx, dockertools.ContainerSpec{})
			return err
		},
		"start":  func(ctx context.Context) error { return c.StartContainer(ctx, "x") },
		"stop":   func(ctx context.Context) error { return c.StopContainer(ctx, "x", 29500*time.Millisecond) },
		"remove": func(ctx context.Context) error { return c.RemoveContainer(ctx, "x") },
		"image":  func(ctx context.Context) error { _, err := c.InspectImage(ctx, "x"); return err },
		"import": func(ctx context.Context) error { return c.ImportImage(ctx, "x:1", strings.NewReader("")) },
		"rename": func(ctx context.Context) error { return c.RenameContainer(ctx, "x", "y") },
		"pull": func(ctx context.Context) error {
			return c.PullImage(ctx, "x", dockertools.Auth{}, func(dockertools.PullProgress) {})
		},
		"exec":   func(ctx context.Context) error { _, err := c.Exec(ctx, "x", []string{"y"}, io.Discard); return err },
		"logs":   func(ctx context.Context) error { return c.Logs(ctx, "x", wholeLog, noLine) },
		"stats":  func(ctx context.Context) error { _, err := c.Stats(ctx, "x"); return err },
		"driver": func(ctx context.Context) error { _, err := c.LogDriver(ctx); return err },
		"events": func(ctx context.Context) error { return c.WatchEvents(ctx, nil, func(dockertools.Event) {}) },
	}
}

func TestClientGivesUpOnADaemonThatHangs(t *testing.T) {
	limits := map[string]time.Duration{"stop": 30*time.Second + callLimit, "import": importLimit, "pull": pullLimit}
	for name := range calls(nil) {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			err := calls(hung(t))[name](t.Context())
			limit := callLimit
			if l, ok := limits[name]; ok {
				limit = l
			}
			if got := time.Since(began); got != limit {
				t.Errorf("%s: came back after %v, want %v", name, got, limit)
			}
			// It is Docker that failed, not the caller that gave up.
			if err == nil || isContextError(err) || !strings.Contains(err.Error(), "no answer") {
				t.Errorf("%s: got %v, want an error about the missing answer", name, err)
			}
		})
	}
}

func TestClientReturnsWhenItsCallerStops(t *testing.T) {
	for name := range calls(nil) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			began := time.Now()
			err := calls(hung(t))[name](ctx)
			if got := time.Since(began); got != time.Second {
				t.Errorf("%s: came back after %v, want 1s", name, got)
			}
			if name == "events" {
				if err != nil {
					t.Errorf("%s: got %v, want no error", name, err)
				}
			} else if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: got %v, want the context's error", name, err)
			}
		})
	}
}

func TestClientLeavesASilentEventStreamAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		body, daemon := io.Pipe()
		c := mustClient(t, "tcp://192.0.2.1:2375")
		c.network = roundTripper(func(req *http.Request) (*http.Response, error) {
			context.AfterFunc(req.Context(), func() { body.CloseWithError(req.Context().Err()) })
			return &http.Response{StatusCode: http.StatusOK, Body: body, Request: req}, nil
		})
		events := make(chan dockertools.Event)
		ended := make(chan error, 1)
		go func() { ended <- c.WatchEvents(ctx, nil, func(e dockertools.Event) { events <- e }) }()

		<-events // the stream stands
		time.Sleep(24 * time.Hour)
		go io.WriteString(daemon, `{"Actor":{"ID":"0123"}}`)
		select {
		case e := <-events:
			if e.ID != "0123" {
				t.Errorf("got %+v", e)
			}
		case err := <-ended:
			t.Fatalf("it ended: %v", err)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("stopped by its caller it says %v", err)
		}
	})
}
