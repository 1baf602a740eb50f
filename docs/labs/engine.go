package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
)

// engine is the machine's Docker, asked by HTTP.
type engine struct{ http.Client }

// newEngine returns the Docker of $DOCKER_HOST, or else that of the usual socket.
func newEngine() (*engine, error) {
	network, address, _ := strings.Cut(cmp.Or(os.Getenv("DOCKER_HOST"), "unix:///var/run/docker.sock"), "://")
	if network != "unix" && network != "tcp" || os.Getenv("DOCKER_TLS_VERIFY") != "" {
		return nil, fmt.Errorf("the labs need a Docker of this machine: unset DOCKER_HOST, which is %q", os.Getenv("DOCKER_HOST"))
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	return &engine{http.Client{Transport: &http.Transport{DialContext: dial}}}, nil
}

// errNotFound says that Docker does not have what was asked for.
var errNotFound = errors.New("no such thing in Docker")

// call sends a request with a body in JSON, and decodes the answer; either may be nil.
func (e *engine) call(ctx context.Context, method, path string, body, answer any) error {
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		sent = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://docker"+path, sent)
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := e.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return err
	case resp.StatusCode == http.StatusNotFound:
		return fmt.Errorf("%s %s: %w", method, path, errNotFound)
	case resp.StatusCode >= 400:
		return fmt.Errorf("%s %s: %s", method, path, text)
	case answer == nil:
		return nil
	}
	return json.Unmarshal(text, answer)
}

// get asks for what a filter by name leaves; Docker takes the name for a regular expression.
func (e *engine) get(ctx context.Context, path, name string, answer any) error {
	filters, err := json.Marshal(map[string][]string{"name": {name}})
	if err != nil {
		return err
	}
	return e.call(ctx, http.MethodGet, path+"filters="+url.QueryEscape(string(filters)), nil, answer)
}

// remove removes what may be gone already.
func (e *engine) remove(ctx context.Context, path string) error {
	if err := e.call(ctx, http.MethodDelete, path, nil, nil); !errors.Is(err, errNotFound) {
		return err
	}
	return nil
}

// named returns the names of the volumes or networks that begin with a prefix.
func (e *engine) named(ctx context.Context, kind, prefix string) (names []string, err error) {
	type named struct{ Name string }
	var answer struct{ Volumes []named }
	if into := any(&answer); kind == "volumes" {
		err = e.get(ctx, "/volumes?", "^"+prefix, into)
	} else {
		err = e.get(ctx, "/networks?", "^"+prefix, &answer.Volumes)
	}
	for _, one := range answer.Volumes {
		if strings.HasPrefix(one.Name, prefix) {
			names = append(names, one.Name)
		}
	}
	return names, err
}

func (e *engine) removeNamed(ctx context.Context, kind, prefix string) error {
	names, err := e.named(ctx, kind, prefix)
	for _, name := range names {
		err = errors.Join(err, e.remove(ctx, "/"+kind+"/"+name))
	}
	return err
}
