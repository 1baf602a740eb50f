package health

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
)

// Target is the container of a probe or a hook.
type Target struct {
	PodIP string     // empty while the pod has none
	Ports []api.Port // of the container, to resolve names
	ID    string     // of the container
	// Exec runs a command in the container with the given id, as dockertools.Interface does.
	Exec func(ctx context.Context, id string, command []string, out io.Writer) (exitCode int, err error)
}

// Probe runs a probe, which has exactly one action, once. The error is nil if the container is healthy and wraps
// Unhealthy if it is not; any other error means that the probe could not be run. If the deadline of ctx passes, the
// container is unhealthy because of the cause of ctx; if ctx is canceled, Probe returns the cause.
func Probe(ctx context.Context, p *api.Probe, t Target) error {
	switch {
	case p.Exec != nil:
		return t.exec(ctx, p.Exec.Command)
	case p.HTTPGet != nil:
		return t.httpGet(ctx, p.HTTPGet)
	case p.GRPC != nil:
		return t.grpc(ctx, p.GRPC)
	}
	return t.tcpSocket(ctx, p.TCPSocket.Port)
}

// RunHandler runs a hook. It returns the same errors as Probe. A command that Docker could not start is tried again until ctx is
// done: a probe is asked again anyway, but a hook that fails ends its container.
func RunHandler(ctx context.Context, h *api.Handler, t Target) error {
	for {
		err := Probe(ctx, &api.Probe{HTTPGet: h.HTTPGet, Exec: h.Exec}, t)
		gone := errors.Is(err, dockertools.ErrNotRunning) || errors.Is(err, dockertools.ErrNoSuchContainer)
		if gone || !errors.Is(err, dockertools.ErrExecNotStarted) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(hookRetry):
		}
	}
}

const hookRetry = 250 * time.Millisecond

// exec runs a command in the container.
func (t Target) exec(ctx context.Context, command []string) error {
	var out limitedBuffer
	code, err := t.Exec(ctx, t.ID, command, &out)
	switch {
	case err != nil && ctx.Err() == nil: // Docker's error
		return err
	case err != nil:
		return fmt.Errorf("run %q: %w", command[0], classify(ctx, err))
	case code != 0:
		return fmt.Errorf("run %q: %w", command[0], unhealthy(fmt.Sprintf("exit code %d: %s", code, out)))
	}
	return nil
}

// tcpSocket opens a connection to the container and closes it.
func (t Target) tcpSocket(ctx context.Context, port api.IntOrString) error {
	address, err := t.address("", port)
	if err != nil {
		return err
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("connect to %s: %w", address, classify(ctx, err))
	}
	return conn.Close()
}

// httpGet sends a request to the container, over a new connection and never through a
// proxy. A redirect is a good answer and is not followed. An http.Client would reject a
// server that answers before it has read the request, such as one made with nc.
func (t Target) httpGet(ctx context.Context, a *api.HTTPGetAction) error {
	address, err := t.address(a.Host, a.Port)
	if err != nil {
		return err
	}
	scheme := strings.ToLower(cmp.Or(a.Scheme, "http"))
	request, err := http.NewRequest(http.MethodGet, scheme+"://"+address+"/"+strings.TrimPrefix(a.Path, "/"), nil)
	if err != nil {
		return err
	}
	for _, h := range a.Headers {
		request.Header.Add(h.Name, h.Value)
	}
	request.Header.Set("User-Agent", cmp.Or(request.Header.Get("User-Agent"), "kubelet14"))
	request.Host = cmp.Or(request.Header.Get("Host"), request.Host)
	request.Close = true
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("GET %s: %w", request.URL, classify(ctx, err))
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	var stream io.ReadWriter = conn
	if scheme == "https" { // certificates do not name a pod's IP; Kubernetes does not verify them either
		secure := tls.Client(conn, &tls.Config{InsecureSkipVerify: true, ServerName: a.Host})
		defer secure.Close()
		stream = secure
	}
	response := &http.Response{StatusCode: 100}
	err = request.Write(stream)
	answers := bufio.NewReader(io.LimitReader(stream, 64<<10))
	for err == nil && response.StatusCode/100 == 1 { // such as 103 Early Hints
		response, err = http.ReadResponse(answers, request)
	}
	if err != nil {
		return fmt.Errorf("GET %s: %w", request.URL, classify(ctx, err))
	}
	var body limitedBuffer
	io.Copy(&body, response.Body) // read a small body to its end, so that the server sees no error
	if response.StatusCode < 200 || response.StatusCode >= 400 {
		return fmt.Errorf("GET %s: %w", request.URL, unhealthy(fmt.Sprintf("%s: %s", response.Status, body)))
	}
	return nil
}

// address returns host:port for a dial. The default host is the pod's IP.
func (t Target) address(host string, port api.IntOrString) (string, error) {
	if host = cmp.Or(strings.Trim(host, "[]"), t.PodIP); host == "" {
		return "", errors.New("the pod has no IP yet")
	}
	return net.JoinHostPort(host, strconv.Itoa(api.ResolvePort(port, t.Ports))), nil
}
