package client

import (
	"net/http"
	"strings"
	"time"
)

// How a request to the daemon came out, for Client.Observe.
const (
	OutcomeOK      = "ok"
	OutcomeRefused = "refused" // the daemon has said no, as it does to who asks for an image that is not there
	OutcomeFailed  = "failed"  // there was no answer, or the caller did not wait for it
)

// observe tells Observe of a request that took so long until its answer began.
func (c *Client) observe(req *http.Request, resp *http.Response, took time.Duration) {
	if c.Observe == nil {
		return
	}
	outcome := OutcomeOK
	switch {
	case resp == nil:
		outcome = OutcomeFailed
	case resp.StatusCode >= http.StatusBadRequest:
		outcome = OutcomeRefused
	}
	c.Observe(operation(req.Method, req.URL.Path), outcome, took)
}

// operation names what a request asks for without saying of which object, so that
// there are as many as the kubelet has kinds of requests.
func operation(method, path string) string {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	last := len(parts) - 1
	switch {
	case parts[0] == "images" && last > 1: // an image's name may have slashes
		parts = []string{"images", "{name}", parts[last]}
	case parts[0] == "images" && last == 1 && parts[1] != "create":
		parts[1] = "{name}"
	case (parts[0] == "containers" || parts[0] == "exec") && last > 1:
		parts[1] = "{id}"
	case parts[0] == "containers" && last == 1 && method == http.MethodDelete:
		parts[1] = "{id}"
	}
	return method + " /" + strings.Join(parts, "/")
}
