package server

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"kubelet14/api"
)

// withContainers is a kubelet with a pod web of two containers, and twins of one name
// from two sources.
func withContainers() *fakeKubelet {
	pod := func(name, uid, source string, containers ...string) api.PodStatus {
		p := api.PodStatus{Name: name, Namespace: "default", UID: uid, Source: source}
		for _, c := range append(containers, "net") {
			p.Containers = append(p.Containers, api.ContainerStatus{Name: c})
		}
		return p
	}
	return &fakeKubelet{statuses: []api.PodStatus{
		pod("twin", "twin-of-etcd", "etcd", "app"), pod("twin", "twin-of-file", "file", "app"), pod("web", "web-uid", "file", "app", "helper"),
	}}
}

// pipes is a listener whose connections are in memory, so that time can be a bubble's.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.closed); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// inBubble runs a server of k in a synctest bubble and sends it a request, with a form
// unless that is empty. The answer ends with the test.
func inBubble(t *testing.T, k *fakeKubelet, method, path, form string, test func(answer *http.Response)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		listener := &pipes{make(chan net.Conn), make(chan struct{})}
		s, err := New(testOptions(k))
		if err != nil {
			t.Fatal(err)
		}
		s.listener.Close()
		s.listener = listener
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- s.Serve(ctx) }()
		ours, theirs := net.Pipe()
		listener.conns <- theirs
		r, err := http.NewRequest(method, "http://localhost"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		withToken(r)
		if form != "" {
			body(formType, form)(r)
		}
		go r.Write(ours)
		answer, err := http.ReadResponse(bufio.NewReader(ours), r)
		if err != nil {
			t.Fatal(err)
		}
		test(answer)
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		ours.Close()
	})
}

// Far more than any time limit of the server.
const longTime = time.Hour

func TestAStreamMayBeQuietForLong(t *testing.T) {
	k := withContainers()
	k.logs = func(ctx context.Context, _, _ string, _ api.LogOptions, out io.Writer) error {
		select {
		case <-ctx.Done():
			return errors.New("it was ended")
		case <-time.After(longTime):
		}
		_, err := io.WriteString(out, "at last\n")
		return err
	}
	k.run = func(ctx context.Context, pod, container string, _ []string, out io.Writer) (int, error) {
		return 0, k.logs(ctx, pod, container, api.LogOptions{}, out)
	}
	for _, request := range []struct{ method, path, form string }{
		{"GET", "/containerLogs/default/web/app?follow=1", ""},
		{"GET", "/containerLogs/default/web/app", ""},
		{"POST", "/run/default/web/app?cmd=sleep", ""},
		{"POST", "/run/default/web/app", "cmd=sleep"},
	} {
		t.Run(request.path+" "+request.form, func(t *testing.T) {
			inBubble(t, k, request.method, request.path, request.form, func(answer *http.Response) {
				if body, err := io.ReadAll(answer.Body); string(body) != "at last\n" || err != nil {
					t.Errorf("it says %q, %v, want at last", body, err)
				}
			})
		})
	}
}

func TestAClientMayTakeItsTimeOverAStream(t *testing.T) {
	k := withContainers()
	k.logs = func(_ context.Context, _, _ string, _ api.LogOptions, out io.Writer) error {
		for range 3 {
			if _, err := io.WriteString(out, "a line\n"); err != nil {
				return err
			}
		}
		return nil
	}
	inBubble(t, k, "GET", "/containerLogs/default/web/app", "", func(answer *http.Response) {
		time.Sleep(longTime)
		if body, err := io.ReadAll(answer.Body); string(body) != "a line\na line\na line\n" || err != nil {
			t.Errorf("it says %q, %v, want three lines", body, err)
		}
	})
}

// net/http would close the connection without a word.
func TestADockerThatHangsIsAnAnswerInTime(t *testing.T) {
	slow := withContainers()
	slow.stats = func(ctx context.Context, _, _ string) (api.ContainerStats, error) {
		<-ctx.Done()
		return api.ContainerStats{}, ctx.Err()
	}
	for _, test := range []struct {
		k            *fakeKubelet
		method, path string
	}{
		{slow, "GET", "/stats/web/app"},
	} {
		t.Run(test.path, func(t *testing.T) {
			inBubble(t, test.k, test.method, test.path, "", func(answer *http.Response) {
				body, err := io.ReadAll(answer.Body)
				if want := "no answer from Docker within 20s\n"; answer.StatusCode != http.StatusServiceUnavailable || string(body) != want || err != nil {
					t.Errorf("it answers %s %q, %v; want 503 %q", answer.Status, body, err, want)
				}
			})
		})
	}
}

// A kubelet that ends must have ended the commands before: nobody else does. So one whose
// output is not taken is told soon, and not by the end of its connection.
func TestAClientThatTakesNothingDoesNotKeepACommandAlive(t *testing.T) {
	k := withContainers()
	k.run = func(ctx context.Context, _, _ string, _ []string, out io.Writer) (int, error) {
		for {
			if _, err := io.WriteString(out, "a line\n"); err != nil {
				if !errors.Is(err, os.ErrDeadlineExceeded) || ctx.Err() == nil {
					t.Errorf("its output ends with %v, while its context says %v", err, ctx.Err())
				}
				return 0, err
			}
		}
	}
	inBubble(t, k, "POST", "/run/default/web/app?cmd=flood", "", func(*http.Response) { time.Sleep(longTime) })
}

// To end a command may take longer than a client is waited for that takes nothing.
func TestAClientIsToldThatItsCommandEndsWithTheKubelet(t *testing.T) {
	k := withContainers()
	k.run = func(ctx context.Context, _, _ string, _ []string, out io.Writer) (int, error) {
		io.WriteString(out, "begun\n")
		<-ctx.Done()
		time.Sleep(2 * lastWriteTimeout)
		return 0, errors.New("it is ended")
	}
	var told []byte
	var err error
	inBubble(t, k, "POST", "/run/default/web/app?cmd=sleep", "", func(answer *http.Response) {
		go func() { told, err = io.ReadAll(answer.Body) }()
	})
	if want := "begun\nkubelet14: it is ended\n"; string(told) != want || err != nil {
		t.Errorf("it is told %q, %v; want %q", told, err, want)
	}
}

// TestAStreamEndsWhenItsClientGoes waits for the context of what the kubelet does.
func TestAStreamEndsWhenItsClientGoes(t *testing.T) {
	for _, request := range []struct{ method, path string }{
		{"GET", "/containerLogs/default/web/app?follow=1"},
		{"POST", "/run/default/web/app?cmd=cat"},
	} {
		t.Run(request.path, func(t *testing.T) {
			k, ended := withContainers(), make(chan struct{})
			k.logs = func(ctx context.Context, _, _ string, _ api.LogOptions, out io.Writer) error {
				io.WriteString(out, "begun\n")
				<-ctx.Done()
				close(ended)
				return nil
			}
			k.run = func(ctx context.Context, pod, container string, _ []string, out io.Writer) (int, error) {
				return 0, k.logs(ctx, pod, container, api.LogOptions{}, out)
			}
			answer, leave := open(t, serve(t, k), request.method, request.path)
			if line, err := bufio.NewReader(answer.Body).ReadString('\n'); line != "begun\n" {
				t.Fatalf("its first line is %q, %v", line, err)
			}
			leave()
			select {
			case <-ended:
			case <-time.After(time.Minute):
				t.Error("the kubelet goes on for a client that is gone")
			}
		})
	}
}

// open makes a request and returns when its status is there; leave ends it.
func open(t *testing.T, s *Server, method, path string) (answer *http.Response, leave func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, method, s.URL()[:len(s.URL())-1]+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	withToken(r)
	answer, err = http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %s", method, path, answer.Status)
	}
	return answer, cancel
}
