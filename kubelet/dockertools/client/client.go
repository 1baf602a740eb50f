// Package client implements dockertools.Interface with a real Docker, over
// go-dockerclient, and finds the credentials for pulls.
//
//	method ─▶ begin ─┬▶ go-dockerclient ─┬▶ roundTrip ─▶ dockerd
//	           end ◀─┴▶ open, getJSON ───┘
//
// If a method uses open or getJSON instead of the library, its comment says why.
package client

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/docker/cli/cli/config"
	docker "github.com/fsouza/go-dockerclient"

	"kubelet14/kubelet/dockertools"
)

var _ dockertools.Interface = (*Client)(nil)

// Client is a client of one Docker daemon. It keeps no connection that it depends on, so it survives a daemon that
// starts late, restarts or is upgraded. Its methods may be called concurrently.
type Client struct {
	endpoint string
	api      *docker.Client
	network  http.RoundTripper // to the daemon
	base     *url.URL          // of requests

	// Observe, if set before the first call, is called for each request with its operation, such as "POST
	// /containers/{id}/start", its outcome, and the time until the answer began. The outcome is "ok"; "refused" if the
	// daemon answered with an error, for instance for a missing image; or "failed" if there was no answer or the caller
	// did not wait for it. Observe must not block, and may be called concurrently.
	Observe func(operation, outcome string, took time.Duration)
}

const endpointForms = "give one like unix:///var/run/docker.sock or tcp://host:2376"

// New returns a client of the daemon at an endpoint, such as unix:///var/run/docker.sock or tcp://host:2376. An empty
// endpoint means $DOCKER_HOST, or else the local socket. With $DOCKER_TLS_VERIFY it uses TLS, with the ca.pem, cert.pem
// and key.pem in $DOCKER_CERT_PATH, or else in Docker's configuration directory.
//
// New does not connect, so the daemon need not be up yet.
func New(endpoint string) (*Client, error) {
	endpoint = cmp.Or(endpoint, os.Getenv("DOCKER_HOST"), "unix:///var/run/docker.sock")
	api, err := newAPI(endpoint)
	if err != nil {
		return nil, fmt.Errorf("use Docker endpoint %q: %w; %s", endpoint, err, endpointForms)
	}
	c := &Client{endpoint: endpoint, api: api, network: api.HTTPClient.Transport}
	api.HTTPClient.Transport = roundTripper(c.roundTrip)
	// The library would ask for the API version in the middle of other calls, without a context, and store the answer
	// without a lock. Ping makes it ask now, and roundTrip answers.
	api.SkipServerVersionCheck = false
	if err := api.Ping(); err != nil || c.base.Scheme == "tcp" { // the library turns tcp into http or https if there is a port
		return nil, fmt.Errorf("use Docker endpoint %q: %w", endpoint, cmp.Or(err, errors.New(endpointForms)))
	}
	return c, nil
}

func newAPI(endpoint string) (*docker.Client, error) {
	if os.Getenv("DOCKER_TLS_VERIFY") == "" || strings.HasPrefix(endpoint, "unix://") {
		return docker.NewClient(endpoint)
	}
	dir := cmp.Or(os.Getenv("DOCKER_CERT_PATH"), config.Dir())
	pem := func(name string) string { return filepath.Join(dir, name+".pem") }
	for _, name := range []string{"cert", "key", "ca"} { // the library would silently do without a missing file
		if _, err := os.Stat(pem(name)); err != nil {
			return nil, fmt.Errorf("find the TLS files in $DOCKER_CERT_PATH, since $DOCKER_TLS_VERIFY is set: %w", err)
		}
	}
	return docker.NewTLSClient(endpoint, pem("cert"), pem("key"), pem("ca"))
}
