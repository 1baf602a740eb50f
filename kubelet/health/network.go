package health

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"kubelet14/api"
)

// maxAnswer is how many bytes of an HTTP answer are read, header and all. So a small
// body is read to its end, and its server never sees a broken connection.
const maxAnswer = 64 << 10

// connect opens a connection, and closes it again.
func (t Target) connect(ctx context.Context, a *api.TCPSocketAction) (seen string, err error) {
	address, err := t.address("", a.Port)
	if err != nil {
		return "", err
	}
	conn, err := dial(ctx, address)
	if err != nil {
		return "", fmt.Errorf("connect to %s: %w", address, err)
	}
	conn.Close()
	return "connected to " + address, nil
}

// get asks by HTTP. It speaks over a connection of its own instead of through an
// http.Client: no proxy, no redirect, nothing that stays open.
func (t Target) get(ctx context.Context, a *api.HTTPGetAction) (seen string, err error) {
	address, err := t.address(a.Host, a.Port)
	if err != nil {
		return "", err
	}
	request, err := newGet(address, a.Path)
	if err != nil {
		return "", err
	}
	conn, err := dial(ctx, address)
	if err != nil {
		return "", fmt.Errorf("GET %s: %w", request.URL, err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	response, err := exchange(conn, request)
	if err != nil {
		return "", fmt.Errorf("GET %s: %w", request.URL, blame(ctx, err))
	}
	if response.StatusCode >= 200 && response.StatusCode < 400 {
		io.Copy(io.Discard, response.Body)
		return fmt.Sprintf("GET %s: %s", request.URL, response.Status), nil
	}
	var body head
	io.Copy(&body, response.Body) // of a body that breaks off, its start is as good
	return "", fmt.Errorf("GET %s: %w", request.URL, failed(response.Status+body.after(": ")))
}

// newGet makes the request for a path, which may have a query and need not begin
// with a slash.
func newGet(address, path string) (*http.Request, error) {
	u, err := url.Parse("http://pod/" + strings.TrimPrefix(path, "/"))
	if err != nil {
		return nil, fmt.Errorf("path %q: %w", path, errors.Unwrap(err))
	}
	u.Host = address
	header := http.Header{"User-Agent": {"kubelet14"}}
	return &http.Request{Method: http.MethodGet, URL: u, Header: header, Close: true}, nil
}

// exchange sends a request and reads the answer, but not its body. Answers such as
// "103 Early Hints" only announce it.
func exchange(conn net.Conn, request *http.Request) (*http.Response, error) {
	if err := request.Write(conn); err != nil {
		return nil, err
	}
	answers := bufio.NewReader(io.LimitReader(conn, maxAnswer))
	for {
		response, err := http.ReadResponse(answers, request)
		if err != nil || response.StatusCode/100 != 1 {
			return response, err
		}
	}
}

// address is host:port as a dial takes it. Without a host it is the pod's.
func (t Target) address(host string, port api.IntOrString) (string, error) {
	number, err := ResolvePort(port, t.Ports)
	if err != nil {
		return "", err
	}
	host = cmp.Or(strings.Trim(host, "[]"), t.PodIP)
	if host == "" {
		return "", errors.New("the pod has no IP yet")
	}
	return net.JoinHostPort(host, strconv.Itoa(number)), nil
}

// dial makes every connection of this package.
func dial(ctx context.Context, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, blame(ctx, err)
	}
	return conn, nil
}
