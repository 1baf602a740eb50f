// Package client asks the info server of a kubelet for its table, and draws a table again when it changes.
package client

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/token"
)

const (
	timeout       = 30 * time.Second
	maxAnswer     = 64 << 20
	watchInterval = time.Second
)

// Client asks the info server of a kubelet on this host. It does not trust the answer: while no kubelet listens, any user
// of the host can listen at its port. All methods but Status and Watch may be called concurrently.
type Client struct {
	Link string // the page's address with the key of the kubelet that has answered last; empty without the token

	Transport *http.Transport // for tests, which set its DialContext

	base, name string // name is for errors
	address    string // it and the port are part of the key
	port       int
	token      string // which is never sent; empty for a client that may not read it, and on a unix socket
	tokenErr   error  // why it is empty
	tag        string // of the table that Status has returned last; empty for none
}

// New returns a client of the server with the same address, port, TLS configuration and token. Without TLS it needs no token,
// but is shown no messages then.
func New(address string, port int, config *tls.Config, tokenFile string) (c *Client, err error) {
	c = &Client{address: address, port: port, Transport: &http.Transport{DisableKeepAlives: true}} // without a proxy
	if path, unix := strings.CutPrefix(address, "unix:"); unix {
		c.name, c.base = address, "http://localhost"
		c.Transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", path)
		}
		return c, nil
	}
	scheme := "http"
	c.token, c.tokenErr = token.Read(tokenFile)
	if config != nil {
		if c.tokenErr != nil {
			return nil, c.needsToken()
		}
		scheme, c.Transport.TLSClientConfig = "https", pin(config)
	}
	if ip := net.ParseIP(address); ip != nil && ip.IsUnspecified() {
		address = "localhost"
	}
	c.base = scheme + "://" + net.JoinHostPort(address, strconv.Itoa(port))
	c.name = c.base
	return c, nil
}

// pin accepts only the server's own certificate, whatever names it has: localhost need not be one of them. The certificates after
// the first have signed it, and may have signed others.
func pin(server *tls.Config) *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: true, VerifyConnection: func(cs tls.ConnectionState) error {
		if !bytes.Equal(cs.PeerCertificates[0].Raw, server.Certificates[0].Certificate[0]) {
			return errors.New("its certificate is not that of -tls_cert_file; after a renewal restart the kubelet, which reads it at its start")
		}
		return nil
	}}
}

// Status returns the table of /status, and an error when a pod is not up or a source was not read. Both are safe to print on
// a terminal.
func (c *Client) Status(ctx context.Context) (table string, err error) {
	c.tag = ""
	ctx, cancel := c.withTimeout(ctx)
	defer cancel()
	resp, err := c.send(ctx, http.MethodGet, "/status", nil)
	if err != nil {
		return "", err
	}
	text, err := c.read(resp)
	if err != nil {
		return "", err
	}
	c.tag = resp.Header.Get("ETag")
	if c.token != "" {
		c.Link = c.base + "/?key=" + c.keyFor(resp)
	}
	reasons := max(strings.LastIndex(text, "\n\n"), 0)
	switch isTable := strings.Contains(text, "POD "); {
	case resp.StatusCode == http.StatusOK && isTable:
		return text, nil
	case resp.StatusCode == http.StatusServiceUnavailable && isTable:
		return text[:reasons+1], errors.New(strings.ReplaceAll(strings.TrimSpace(text[reasons:]), "\n", ", "))
	case resp.StatusCode == http.StatusOK:
		return "", c.notKubelet()
	}
	return "", c.refused(resp, text)
}

// Get reads the JSON of an answer into value. Its texts are not safe to print on a terminal.
func (c *Client) Get(ctx context.Context, path string, query url.Values, value any) error {
	ctx, cancel := c.withTimeout(ctx)
	defer cancel()
	resp, err := c.Ask(ctx, http.MethodGet, path, query)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(http.MaxBytesReader(nil, resp.Body, maxAnswer)).Decode(value); err != nil {
		return c.failed(cmp.Or(context.Cause(ctx), err))
	}
	return nil
}

// Ask sends a request with the key, and returns an answer of status 200, whose body the caller closes. Other answers are errors.
func (c *Client) Ask(ctx context.Context, method, path string, query url.Values) (*http.Response, error) {
	resp, err := c.send(ctx, method, path, query)
	switch {
	case err != nil || resp.StatusCode == http.StatusOK && resp.Header.Get(token.InstanceHeader) != "":
		return resp, err
	case resp.StatusCode == http.StatusOK:
		resp.Body.Close()
		return nil, c.notKubelet()
	}
	text, err := c.read(resp)
	if err != nil {
		return nil, err
	}
	return nil, c.refused(resp, text)
}

// Order sends a POST that only the token allows, and returns the text of the answer, which is safe to print on a terminal. It waits
// for the answer until ctx is done.
func (c *Client) Order(ctx context.Context, path string, query url.Values) (string, error) {
	resp, err := c.Ask(ctx, http.MethodPost, path, query)
	if err != nil {
		return "", err
	}
	return c.read(resp)
}

// Upgrade sends a POST that only the token allows, and returns the connection, which now speaks another protocol.
func (c *Client) Upgrade(ctx context.Context, path string, query url.Values, protocol string) (io.ReadWriteCloser, error) {
	resp, err := c.send(ctx, http.MethodPost, path, query, "Connection", "Upgrade", "Upgrade", protocol)
	if err != nil {
		return nil, err
	}
	if conn, ok := resp.Body.(io.ReadWriteCloser); ok && resp.StatusCode == http.StatusSwitchingProtocols {
		return conn, nil
	}
	text, err := c.read(resp)
	if err != nil {
		return nil, err
	}
	return nil, c.refused(resp, text)
}

// send sends a request with the key, if the client has the token, and a POST with the proof of it. The first request asks who
// listens, for the key. Header has names and values.
func (c *Client) send(ctx context.Context, method, path string, query url.Values, header ...string) (*http.Response, error) {
	if query = maps.Clone(query); query == nil {
		query = url.Values{}
	}
	if method == http.MethodPost && c.tokenErr != nil {
		return nil, c.needsToken()
	}
	if c.token != "" {
		resp, err := c.roundTrip(ctx, http.MethodGet, "/healthz")
		if err != nil {
			return nil, err
		}
		resp.Body.Close()
		if method == http.MethodPost {
			proof := token.RunKey(c.token, resp.Header.Get(token.InstanceHeader), c.address, c.port)
			header = append(header, "Authorization", "Bearer "+proof)
		} else {
			query.Set("key", c.keyFor(resp))
		}
	}
	return c.roundTrip(ctx, method, (&url.URL{Path: path, RawQuery: query.Encode()}).String(), header...)
}

// keyFor returns the key of the kubelet that has sent an answer.
func (c *Client) keyFor(resp *http.Response) string {
	return token.Key(c.token, resp.Header.Get(token.InstanceHeader), c.address, c.port)
}

func (c *Client) roundTrip(ctx context.Context, method, path string, header ...string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("TE", "trailers")
	for pair := range slices.Chunk(header, 2) {
		r.Header.Set(pair[0], pair[1])
	}
	resp, err := c.Transport.RoundTrip(r) // follows no redirects
	if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, os.ErrNotExist) {
		err = errors.New("no kubelet answers: is one running, with the same -address and -port, and without -enable_server=false?")
	}
	if err != nil {
		return nil, c.failed(cmp.Or(context.Cause(ctx), err))
	}
	return resp, nil
}

// read returns the body of an answer, which is safe to print on a terminal.
func (c *Client) read(resp *http.Response) (string, error) {
	defer resp.Body.Close()
	body, err := io.ReadAll(http.MaxBytesReader(nil, resp.Body, maxAnswer))
	if err != nil {
		return "", c.failed(cmp.Or(context.Cause(resp.Request.Context()), err))
	}
	return api.Printable(string(body)), nil
}

func (c *Client) withTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, timeout, fmt.Errorf("no answer within %v", timeout))
}

func (c *Client) failed(err error) error { return fmt.Errorf("ask the kubelet at %s: %w", c.name, err) }

func (c *Client) notKubelet() error {
	return fmt.Errorf("the program that answers at %s is not a kubelet14", c.name)
}

// needsToken says what a user can do who may not read the token.
func (c *Client) needsToken() error {
	err := fmt.Errorf("this needs the token of the kubelet: %w", c.tokenErr)
	if errors.Is(err, os.ErrNotExist) {
		err = fmt.Errorf("%w: give the -root_dir or the -token_file of the kubelet", err)
	}
	return err
}

// Hidden returns an error if the answers have no messages, since the client may not read the token.
func (c *Client) Hidden() error {
	if c.tokenErr == nil {
		return nil
	}
	return fmt.Errorf("messages are hidden: %w", c.needsToken())
}

// refused returns the error of an answer.
func (c *Client) refused(resp *http.Response, text string) error {
	switch ofKubelet := resp.Header.Get(token.InstanceHeader) != ""; {
	case resp.StatusCode == http.StatusUnauthorized && c.tokenErr != nil:
		return c.needsToken()
	case ofKubelet && resp.StatusCode < http.StatusInternalServerError:
		return errors.New(strings.TrimSpace(text))
	}
	return fmt.Errorf("the kubelet at %s answers %q: %s", c.name, resp.Status, strings.TrimSpace(text))
}

// Watch writes the table of Status, and again when it changes, until ctx is done. On a terminal the times count on; elsewhere
// they alone are no change. It returns an error if no kubelet answers at first.
func (c *Client) Watch(ctx context.Context, out io.Writer, terminal bool) error {
	return Watch(ctx, out, terminal, watchInterval, func(ctx context.Context) (table, tag string, err error) {
		table, err = c.Status(ctx)
		return table, c.tag, err
	})
}
