package server

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"kubelet14/api"
)

// Limits that keep one client from using up the server.
const (
	maxConnections    = 512
	maxHeaderBytes    = 64 << 10
	maxBodyBytes      = 1 << 20
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 30 * time.Second       // of a body that is read
	leaveBodyTimeout  = 500 * time.Millisecond // of one that is not
	writeTimeout      = 30 * time.Second       // of an answer that is no stream: see lift
	lastWordsTimeout  = 250 * time.Millisecond // of a stream that is over; within shutdownTimeout
	idleTimeout       = 2 * time.Minute
	shutdownTimeout   = time.Second
)

// Options is all that a Server is made of.
type Options struct {
	Kubelet Kubelet
	Sources func() []api.SourceStatus
	Scheme  *api.Scheme

	Address string      // an IP address, or unix:PATH
	Port    int         // 0: one that is free
	TLS     *tls.Config // nil: none, and then Address is on this host

	// Hostnames are names in lower case, besides localhost and those of the
	// certificate, that a Host header may have.
	Hostnames []string
	Token     string // not asked for on a unix socket
	TokenFile string // where it is, for people

	Debugging bool   // logs and commands
	LogDir    string // of the kubelet's own log, with Debugging; empty: none

	CAdvisorPort int // where a cAdvisor may answer on this host; 0: nowhere
	Version      string
	// Metrics is what the rest of the program counts with.
	Metrics *Metrics
}

// Server is the info server of one kubelet.
type Server struct {
	opts        Options
	token       token
	listener    net.Listener
	certificate *x509.Certificate // nil without TLS
	metrics     *Metrics
	cAdvisor    *cAdvisor
	begun       string // tells this server from the one before a restart
	pages       atomic.Int32
}

// handler answers a request, or returns an error before it has answered anything.
type handler func(w http.ResponseWriter, r *http.Request) error

// New opens the server's listener. Nothing is answered before Serve.
func New(opts Options) (*Server, error) {
	s := &Server{opts: opts, token: token(opts.Token), metrics: opts.Metrics, cAdvisor: newCAdvisor(opts.CAdvisorPort), begun: rand.Text()}
	var err error
	s.listener, err = s.listen()
	return s, err
}

// URL is where the server answers, for people.
func (s *Server) URL() string {
	scheme := "http"
	switch {
	case s.unix():
		return s.opts.Address
	case s.opts.TLS != nil:
		scheme = "https"
	}
	address := s.listener.Addr().(*net.TCPAddr)
	if address.IP.IsUnspecified() && len(s.opts.Hostnames) > 0 {
		return fmt.Sprintf("%s://%s:%d/", scheme, s.opts.Hostnames[0], address.Port)
	}
	return fmt.Sprintf("%s://%s/", scheme, address)
}

// Link is the page's address with the token: who follows it may read logs. It is empty
// on a unix socket, which no browser opens.
func (s *Server) Link() string {
	if s.unix() {
		return ""
	}
	return s.URL() + "?token=" + url.QueryEscape(s.opts.Token)
}

// Serve answers until ctx is done, and then gives what is being answered a moment.
func (s *Server) Serve(ctx context.Context) error {
	server := &http.Server{
		Handler:           http.MaxBytesHandler(s.metrics.count(s.guard(s.routes())), maxBodyBytes),
		ReadHeaderTimeout: readHeaderTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ConnState:         (&connections{limit: maxConnections}).note,
		ErrorLog:          httpLog(),
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		// Those that follow something end with ctx, since it is theirs too.
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
		defer cancel()
		if server.Shutdown(last) != nil {
			server.Close()
		}
	})
	err := server.Serve(s.listener)
	if stop() { // it has ended by itself
		return fmt.Errorf("info server: %w", err)
	}
	<-ended
	return nil
}

// routes says what is at which path, and who may have it.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	add := func(pattern string, need access, serve handler) {
		mux.HandleFunc(pattern, s.allow(need, serve))
	}
	add("GET /{$}", anyone, s.serveRoot)
	add("GET /static/{file}", reading, s.servePageFile)
	add("GET /stream", reading, s.servePageStream)
	add("GET /healthz", anyone, s.serveHealth)
	add("GET /podInfo", reading, s.servePodInfo)
	add("GET /boundPods", reading, s.serveBoundPods)
	add("GET /pods", reading, s.servePods)
	add("GET /sources", reading, s.serveSources)
	add("GET /events", reading, s.serveEvents)
	add("GET /metrics", reading, s.serveMetrics)
	add("GET /spec/{$}", reading, s.serveSpec)
	add("GET /stats/{$}", reading, s.serveMachineStats)
	add("GET /stats/{pod}/{container}", reading, s.serveContainerStats)
	add("GET /stats/{namespace}/{pod}/{uid}/{container}", reading, s.serveContainerStats)
	if s.opts.Debugging {
		add("GET /containerLogs/{namespace}/{pod}/{container}", logs, s.serveContainerLogs)
		add("POST /run/{namespace}/{pod}/{container}", running, s.serveRun)
		add("POST /run/{namespace}/{pod}/{uid}/{container}", running, s.serveRun)
	}
	if s.opts.Debugging && s.opts.LogDir != "" {
		add("GET /logs/{$}", logs, s.serveHostLogs)
		add("GET /logs/{file}", logs, s.serveHostLog)
	}
	return mux
}

// Kubelet is what the server sees of the kubelet. Its methods may be called by any
// number of goroutines.
type Kubelet interface {
	// Health is nil when the kubelet can look after its pods. It takes no time.
	Health() error
	// Pods are those that are wanted, by full name.
	Pods() []api.Pod
	// Statuses returns the status of every pod, ordered by full name, as the last sync
	// saw it, and a channel that is closed when there is a newer one. The error is that
	// of the last look at Docker.
	Statuses() (pods []api.PodStatus, newer <-chan struct{}, err error)
	// Events gives those after a number, the oldest first, and a channel that is closed
	// when there is another.
	Events(after uint64) (newer []api.Event, more <-chan struct{})
	// Load says how much the kubelet has to do.
	Load() api.Load

	// ContainerLogs writes what a container has printed, line by line as it comes when
	// it is to follow: then it goes on, with the next attempt of the container when
	// there is one, until ctx is done, the pod is gone, or the container has run for
	// the last time.
	ContainerLogs(ctx context.Context, podFullName, container string, opts api.LogOptions, out io.Writer) error
	// RunInContainer runs a command in a container, writes what it prints, and returns
	// its exit code. When ctx is done it ends the command.
	RunInContainer(ctx context.Context, podFullName, container string, command []string, out io.Writer) (exitCode int, err error)
	// ContainerStats measures a running container, by the name of the pod and of the
	// container.
	ContainerStats(ctx context.Context, podFullName, container string) (api.ContainerStats, error)
}
