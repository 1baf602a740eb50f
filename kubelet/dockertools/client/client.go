package client

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	docker "github.com/fsouza/go-dockerclient"

	"kubelet14/kubelet/dockertools"
)

var _ dockertools.Interface = (*Client)(nil)

// Client is the real Docker: Interface, which says what each method does, over
// go-dockerclient.
//
// It holds no connection, so a daemon that starts late, restarts or is upgraded
// makes no difference to it. Its methods may be called by any number of
// goroutines.
type Client struct {
	endpoint string
	url      *url.URL       // of some request to it
	api      *docker.Client // never used as it is: each call has a copy, see call

	// Observe is told of each request: what it asks for, such as "POST
	// /containers/{id}/start", which of the Outcome constants it had, and how long it
	// was until the answer began. It is set before the first call or not at all, may
	// be called by any number of goroutines, and must not block.
	Observe func(operation, outcome string, took time.Duration)
}

// NewClient makes a client of the Docker daemon at an endpoint, such as
// unix:///var/run/docker.sock or tcp://host:2376. An empty one means
// $DOCKER_HOST, else the local socket. As for the docker command,
// $DOCKER_TLS_VERIFY asks for TLS with the ca.pem, cert.pem and key.pem of
// $DOCKER_CERT_PATH, else of $DOCKER_CONFIG, else of ~/.docker.
//
// It does not talk to the daemon, which need not be up yet.
func New(endpoint string) (*Client, error) {
	endpoint = cmp.Or(endpoint, os.Getenv("DOCKER_HOST"), "unix:///var/run/docker.sock")
	var api *docker.Client
	var err error
	if os.Getenv("DOCKER_TLS_VERIFY") != "" && !strings.HasPrefix(endpoint, "unix://") {
		api, err = newTLSClient(endpoint)
	} else {
		api, err = docker.NewClient(endpoint)
	}
	if err != nil {
		return nil, fmt.Errorf("use Docker endpoint %q: %w; give one like unix:///var/run/docker.sock or tcp://host:2376", endpoint, err)
	}
	c := &Client{endpoint: endpoint, api: api}
	if err := c.settleVersion(); err != nil {
		return nil, fmt.Errorf("use Docker endpoint %q: %w", endpoint, err)
	}
	return c, nil
}

// newTLSClient reads the files itself: the library takes a missing ca.pem as a
// wish not to verify the daemon at all.
func newTLSClient(endpoint string) (*docker.Client, error) {
	dir := cmp.Or(os.Getenv("DOCKER_CERT_PATH"), configDir())
	var pem [3][]byte
	for i, name := range []string{"cert.pem", "key.pem", "ca.pem"} {
		var err error
		if pem[i], err = os.ReadFile(filepath.Join(dir, name)); err != nil {
			return nil, fmt.Errorf("find the TLS files in $DOCKER_CERT_PATH, since $DOCKER_TLS_VERIFY is set: %w", err)
		}
	}
	return docker.NewTLSClientFromBytes(endpoint, pem[0], pem[1], pem[2])
}

// settleVersion answers, in place of the daemon, the one question the library
// asks of it behind our back: its API version. The library asks in the middle of
// other calls, without a context, and keeps the answer without a lock, so it
// must never come to that. It only wants to know how to talk to daemons older
// than the one claimed here (20.10, the oldest we know to work): requests carry
// no version, and every daemon takes them as its own newest.
func (c *Client) settleVersion() error {
	network := c.api.HTTPClient.Transport
	defer func() { c.api.HTTPClient.Transport = network }()
	c.api.HTTPClient.Transport = roundTrip(func(req *http.Request) (*http.Response, error) {
		c.url = req.URL
		return &http.Response{
			StatusCode: http.StatusOK,
			Body:       io.NopCloser(strings.NewReader(`{"ApiVersion":"1.41"}`)),
			Request:    req,
		}, nil
	})
	c.api.SkipServerVersionCheck = false
	return c.api.Ping()
}

// roundTrip makes a transport of a function.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }
