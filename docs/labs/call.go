package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// request is one that changes something in Docker.
type request struct {
	verb    string // create, start, stop, kill, remove, …
	kind    string // containers, volumes or networks
	name    string // of the thing, not its id
	pod, of string // of a container, from its name
	status  int    // of the answer; 0: there is none yet
	query   string
	live    bool // the container had a process when the request came
	over    bool // the program does not wait for its answer any more
}

func (r *request) String() string {
	answer := fmt.Sprint("answer ", r.status)
	if r.status == 0 {
		answer = "no answer yet"
	}
	return fmt.Sprintf("%s %s %s: %s", r.verb, strings.TrimSuffix(r.kind, "s"), r.name, answer)
}

var (
	target   = regexp.MustCompile(`^(?:/v[\d.]+)?/(containers|volumes|networks|images)/([^/]+)(?:/(\w+))?$`)
	harmless = []string{"wait", "attach", "resize", "exec", "archive"} // of the verbs
)

// read returns the request of one that changes something, and nil for others.
func (p *proxy) read(r *http.Request) (*request, error) {
	m := target.FindStringSubmatch(r.URL.Path)
	if m == nil || r.Method == http.MethodGet || r.Method == http.MethodHead || slices.Contains(harmless, m[3]) {
		return nil, nil
	}
	q := &request{kind: m[1], name: m[2], verb: m[3], query: r.URL.RawQuery}
	switch {
	case r.Method == http.MethodDelete:
		q.verb = "remove"
	case q.name == "prune" || q.name == "create":
		q.verb, q.name = q.name, r.URL.Query().Get("name")
	}
	if q.kind == "images" && q.verb == "create" { // a pull
		return nil, nil
	}
	var err error
	switch {
	case q.kind == "images" || q.verb == "prune":
	case q.verb == "create" && q.kind != "containers":
		q.name, err = nameInBody(r)
	case q.verb != "create":
		q.name, q.live, err = p.engine.look(r.Context(), q.kind, q.name)
	}
	q.pod, q.of = split(p.prefix, q.name)
	return q, err
}

// nameInBody reads the name of a new volume or network, and leaves the body as it was.
func nameInBody(r *http.Request) (string, error) {
	text, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(text))
	var body struct{ Name string }
	if err == nil {
		err = json.Unmarshal(text, &body)
	}
	return body.Name, err
}
