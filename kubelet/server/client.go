package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"kubelet14/api"
)

// Client asks the info server of a kubelet of this host.
type Client struct {
	where string // for people
	base  string
	token string // empty: it is not needed
	http  *http.Client
}

const clientTimeout = 30 * time.Second

// NewClient makes a client of the server that listens with the same address, port,
// certificate and token. The token is shown to none but the holder of the certificate:
// while no kubelet listens, any user of the host may do so at its port. Without TLS it is
// not needed.
func NewClient(address string, port int, certFile, tokenFile string) (*Client, error) {
	transport := &http.Transport{}
	c := &Client{http: &http.Client{Transport: transport, Timeout: clientTimeout}}
	if path, unix := strings.CutPrefix(address, unixPrefix); unix {
		c.where, c.base = address, "http://localhost"
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", path)
		}
		return c, nil
	}
	if ip := net.ParseIP(address); ip != nil && ip.IsUnspecified() {
		address = "localhost" // it listens there too
	}
	scheme := "http"
	if certFile != "" {
		scheme = "https"
		var err error
		if transport.TLSClientConfig, err = trust(certFile); err != nil {
			return nil, err
		}
		c.token, err = ReadToken(tokenFile)
		if err != nil {
			return nil, err
		}
	}
	c.base = scheme + "://" + net.JoinHostPort(address, strconv.Itoa(port))
	c.where = c.base
	return c, nil
}

// trust is for a server that shows the very certificate in a file, by whatever name.
func trust(certFile string) (*tls.Config, error) {
	pem, err := os.ReadFile(certFile)
	if err != nil {
		return nil, fmt.Errorf("read -tls_cert_file: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("read -tls_cert_file: %s holds no certificate in PEM", certFile)
	}
	// The name is that of the host as others see it, and need not be "localhost".
	return &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: true, VerifyConnection: func(cs tls.ConnectionState) error {
		_, err := cs.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: pool})
		return err
	}}, nil
}

// Close gives up its connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Sources is how the kubelet's sources do.
func (c *Client) Sources(ctx context.Context) ([]api.SourceStatus, error) {
	return get[api.SourceStatus](ctx, c, "/sources")
}

// Pods is what has become of every pod.
func (c *Client) Pods(ctx context.Context) ([]api.PodStatus, error) {
	return get[api.PodStatus](ctx, c, "/pods")
}

func get[T any](ctx context.Context, c *Client, path string) ([]T, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+path, nil)
	if err != nil {
		return nil, err
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := c.http.Do(r)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("no kubelet answers at %s: is one running, with the same -address and -port, and without -enable_server=false?", c.where)
	case err != nil:
		return nil, fmt.Errorf("ask the kubelet at %s: %w", c.where, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("ask the kubelet at %s: %w", c.where, err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the kubelet at %s answers %q: %s", c.where, resp.Status, strings.TrimSpace(string(body)))
	}
	var answer list[T]
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, fmt.Errorf("what answers at %s is no kubelet14: %w", c.where, err)
	}
	return answer.Items, nil
}
