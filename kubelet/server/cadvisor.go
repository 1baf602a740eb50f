package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

const (
	cAdvisorTimeout   = time.Second      // for one answer
	cAdvisorRetry     = 10 * time.Second // after it did not come
	cAdvisorMaxAnswer = 16 << 20
)

// cAdvisor asks the one that may run on this host, in a container as anything else. It
// has measured for a while, and knows more than we do; in 2014 there were no stats
// without it. Its methods may be called by any number of goroutines.
type cAdvisor struct {
	url    string // empty: there is none
	client *http.Client

	silence atomic.Pointer[time.Time] // when it last did not answer; nil: it always did
}

// newCAdvisor asks at a port of this host; 0 is nowhere.
func newCAdvisor(port int) *cAdvisor {
	if port == 0 {
		return &cAdvisor{}
	}
	return &cAdvisor{
		url: fmt.Sprintf("http://127.0.0.1:%d/api/v1.3", port),
		client: &http.Client{
			Transport:     &http.Transport{DisableKeepAlives: true, DisableCompression: true}, // and no proxy
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Timeout:       cAdvisorTimeout,
		},
	}
}

// machine is nil when it does not answer.
func (c *cAdvisor) machine(ctx context.Context) map[string]any {
	return c.ask(ctx, http.MethodGet, "/machine", nil)
}

// host measures the whole machine, and is nil when it does not answer.
func (c *cAdvisor) host(ctx context.Context, numStats int) map[string]any {
	return withoutEnv(c.ask(ctx, http.MethodPost, "/containers/", map[string]int{"num_stats": numStats}))
}

// container measures one by Docker's id. It is nil when cAdvisor does not answer, or
// does not know it, yet or at all.
func (c *cAdvisor) container(ctx context.Context, id string, numStats int) map[string]any {
	byName := c.ask(ctx, http.MethodPost, "/docker/"+id, map[string]int{"num_stats": numStats})
	for _, one := range byName { // under the name that it has there
		known, _ := one.(map[string]any)
		return withoutEnv(known)
	}
	return nil
}

// withoutEnv leaves out the values of environment variables, which are often secret.
// cAdvisor can be told to collect them.
func withoutEnv(container map[string]any) map[string]any {
	if spec, ok := container["spec"].(map[string]any); ok {
		delete(spec, "envs")
	}
	return container
}

// ask is nil when there is no answer, or another one than 200 and an object in JSON.
func (c *cAdvisor) ask(ctx context.Context, method, path string, query any) map[string]any {
	if at := c.silence.Load(); c.url == "" || at != nil && time.Since(*at) < cAdvisorRetry {
		return nil // one that hangs costs little
	}
	var body io.Reader
	if query != nil {
		encoded, err := json.Marshal(query)
		if err != nil {
			return nil
		}
		body = bytes.NewReader(encoded)
	}
	r, err := http.NewRequestWithContext(ctx, method, c.url+path, body)
	if err != nil {
		return nil
	}
	resp, err := c.client.Do(r)
	if err != nil {
		c.silent(ctx)
		return nil
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil // it lives, and does not know this
	}
	var answer map[string]any
	decoder := json.NewDecoder(io.LimitReader(resp.Body, cAdvisorMaxAnswer))
	decoder.UseNumber() // its counters are too large for a float64
	if err := decoder.Decode(&answer); err != nil {
		c.silent(ctx)
		return nil
	}
	return answer
}

// silent notes that it does not answer, unless it was our client that left.
func (c *cAdvisor) silent(ctx context.Context) {
	if ctx.Err() == nil {
		now := time.Now()
		c.silence.Store(&now)
	}
}
