package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"
)

// proxy is what the student's program takes for Docker. It passes on every request that reads, and of
// those that change something the ones that are about the program's own names.
type proxy struct {
	socket, prefix string
	engine         *engine
	forward        *httputil.ReverseProxy
	server         *http.Server

	// check is called when a request has been carried out, before the program knows. Its error ends the check.
	check func(*request) error
	// oneAtATime is set if no two requests may be about one pod at the same time.
	oneAtATime bool

	mu       sync.Mutex
	hold     func(*request) <-chan struct{} // what a request waits for before it is passed on; nil: nothing
	held     *request                       // the last one that waited
	left     int                            // the requests until the program is killed; 0: it is not killed
	kill     func()                         // kills it
	killedBy *request                       // the one after which it was killed, until it is started again
	requests []*request                     // in the order in which they began
	fault    error                          // the first thing that no program may do
}

type requestKey struct{}

// newProxy listens at a socket.
func newProxy(socket, prefix string, e *engine) (*proxy, error) {
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return nil, err
	}
	p := &proxy{socket: socket, prefix: prefix, engine: e}
	p.forward = httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "docker"})
	p.forward.Transport = e.Transport
	p.forward.FlushInterval = -1 // events and logs are passed on as they come
	p.forward.ModifyResponse = p.answered
	p.forward.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, err error) { refuse(w, http.StatusBadGateway, err) }
	p.forward.ErrorLog = log.New(io.Discard, "", 0) // a program that is killed breaks its connections
	p.server = &http.Server{Handler: p}
	go p.server.Serve(listener)
	return p, nil
}

// close waits for the requests that have been passed on, so that nothing comes after it.
func (p *proxy) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	p.server.Shutdown(ctx)
	p.server.Close()
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q, err := p.read(r)
	if err == nil && q != nil {
		err = p.begin(r.Context(), q)
		defer p.end(q)
		// Docker carries it out to the end, also if the program is killed meanwhile.
		ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
		defer cancel()
		r = r.WithContext(context.WithValue(ctx, requestKey{}, q))
	}
	if err != nil {
		refuse(w, http.StatusForbidden, err)
		return
	}
	p.forward.ServeHTTP(w, r)
}

// begin notes a request, and refuses it or lets it wait.
func (p *proxy) begin(ctx context.Context, q *request) error {
	wait, err := p.admit(q)
	if err != nil || wait == nil {
		return err
	}
	select {
	case <-wait:
		return nil
	case <-ctx.Done(): // the program waits no longer
		return ctx.Err()
	}
}

func (p *proxy) admit(q *request) (wait <-chan struct{}, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, other := range p.requests {
		if p.oneAtATime && !other.over && other.pod == q.pod {
			err = fmt.Errorf("your program asked Docker to %s %s while it was waiting for the answer to: %s %s", q.verb, q.name, other.verb, other.name)
		}
	}
	if p.killedBy != nil {
		return nil, errors.New("the program has been killed")
	}
	p.requests = append(p.requests, q)
	switch {
	case !strings.HasPrefix(q.name, p.prefix+"_"):
		err = fmt.Errorf("your program asked Docker to %s the %s %q. That is not its own: its names begin with %s_", q.verb, strings.TrimSuffix(q.kind, "s"), q.name, p.prefix)
	case q.live && (q.verb == "kill" || q.verb == "remove"):
		err = fmt.Errorf("your program asked Docker to %s %s, which runs. Stop it with docker stop, so that its program has time to end", q.verb, q.name)
	}
	p.fault = firstError(p.fault, err)
	if err == nil && p.hold != nil {
		wait = p.hold(q)
	}
	return wait, err
}

func (p *proxy) end(q *request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	q.over = true
}

// answered looks at an answer before the program gets it.
func (p *proxy) answered(resp *http.Response) error {
	q, changes := resp.Request.Context().Value(requestKey{}).(*request)
	if !changes {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	q.status = resp.StatusCode
	if p.check != nil && resp.StatusCode < 300 {
		p.fault = firstError(p.fault, p.check(q))
	}
	if p.left--; p.left == 0 {
		p.kill()
		p.killedBy = q
		return errors.New("the program has been killed")
	}
	return nil
}

// killAfter has the program killed when the n-th of the following requests has been carried out, before it knows.
func (p *proxy) killAfter(n int, kill func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left, p.kill = n, kill
}

// open takes the requests of a program that has been started.
func (p *proxy) open() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.killedBy = nil
}

// killedAfter returns the request after which the program was killed, or nil.
func (p *proxy) killedAfter() *request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.killedBy
}

func firstError(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// refuse answers as Docker does.
func refuse(w http.ResponseWriter, status int, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]string{"message": err.Error()})
}

// problem returns the first thing that the program did and may not do.
func (p *proxy) problem() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fault
}

// last returns the last requests that changed something, one a line.
func (p *proxy) last(n int) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := ""
	for _, q := range p.requests[max(0, len(p.requests)-n):] {
		text += fmt.Sprintf("  %v\n", q)
	}
	return text
}

// look returns the name of what a request calls by a name or an id, or that if Docker does not have it, and whether it is
// a container that has a process.
func (e *engine) look(ctx context.Context, kind, ref string) (name string, live bool, err error) {
	var found struct {
		Name  string
		State struct{ Running bool }
	}
	path := "/" + kind + "/" + ref
	if kind == "containers" {
		path += "/json"
	}
	err = e.call(ctx, http.MethodGet, path, nil, &found)
	if errors.Is(err, errNotFound) {
		return ref, false, nil
	}
	return strings.TrimPrefix(found.Name, "/"), found.State.Running, err
}
