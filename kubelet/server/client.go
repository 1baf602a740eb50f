package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
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

// Client asks the info server of a kubelet of this host. It believes nothing of whoever
// answers: while no kubelet listens, any user of the host may do so at its port.
type Client struct {
	where     string // for people
	base      string
	token     string // empty: it is not needed
	transport *http.Transport
}

const (
	clientTimeout   = 30 * time.Second
	clientMaxAnswer = 64 << 20
)

// NewClient makes a client of the server that listens with the same address, port,
// certificate and token. The token is shown to none but the holder of the certificate;
// without TLS it is not needed.
func NewClient(address string, port int, certFile, tokenFile string) (*Client, error) {
	c := &Client{transport: &http.Transport{}} // with no proxy
	if path, unix := strings.CutPrefix(address, unixPrefix); unix {
		c.where, c.base = address, "http://localhost"
		c.transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
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
		if c.transport.TLSClientConfig, err = trust(certFile); err != nil {
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

// trust is for a server that shows the first certificate of a file, by whatever name: the
// name is that of the host as others see it, and need not be "localhost". Those behind the
// first have signed it, and may have signed for anybody.
func trust(certFile string) (*tls.Config, error) {
	text, err := os.ReadFile(certFile)
	if err != nil {
		return nil, fmt.Errorf("read -tls_cert_file: %w", err)
	}
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		return &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: true, VerifyConnection: func(cs tls.ConnectionState) error {
			if !bytes.Equal(cs.PeerCertificates[0].Raw, block.Bytes) {
				return fmt.Errorf("it shows another certificate than that in %s; when that was renewed, restart the kubelet, which reads it at its start", certFile)
			}
			return nil
		}}, nil
	}
	return nil, fmt.Errorf("read -tls_cert_file: %s holds no certificate in PEM", certFile)
}

// Close gives up its connections.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// Sources is how the kubelet's sources do.
func (c *Client) Sources(ctx context.Context) ([]api.SourceStatus, error) {
	return get[api.SourceStatus](ctx, c, "/sources")
}

// Pods is what has become of every pod.
func (c *Client) Pods(ctx context.Context) ([]api.PodStatus, error) {
	return get[api.PodStatus](ctx, c, "/pods")
}

func get[T any](ctx context.Context, c *Client, path string) ([]T, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, clientTimeout, fmt.Errorf("no answer within %v", clientTimeout))
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+path, nil)
	if err != nil {
		return nil, err
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := c.transport.RoundTrip(r) // and follow nobody elsewhere
	switch {
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("no kubelet answers at %s: is one running, with the same -address and -port, and without -enable_server=false?", c.where)
	case err != nil:
		return nil, fmt.Errorf("ask the kubelet at %s: %w", c.where, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(http.MaxBytesReader(nil, resp.Body, clientMaxAnswer))
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
