package server

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/golang/glog"

	"kubelet14/api"
	"kubelet14/kubelet/features"
	"kubelet14/kubelet/node"
	"kubelet14/kubelet/step"
	"kubelet14/kubelet/token"
	"kubelet14/kubelet/trace"
	"kubelet14/kubelet/wishes"
)

// Limits for each client.
const (
	maxConnections    = 512 // of all clients
	maxHeaderBytes    = 64 << 10
	maxBodyBytes      = 1 << 20
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 30 * time.Second       // of a request with its body, and between two requests
	writeTimeout      = 30 * time.Second       // of an answer that is not a stream
	lastWriteTimeout  = 250 * time.Millisecond // of a stream whose request was canceled
	shutdownTimeout   = time.Second
)

// Options configures a Server.
type Options struct {
	Kubelet Kubelet
	Sources func() []api.SourceStatus
	Node    func() node.Status
	Trace   *trace.Trace
	Step    *step.Stepper // may be nil
	Wishes  *wishes.Wishes
	Scheme  *api.Scheme

	Address   string      // an IP address, or unix:PATH
	Port      int         // 0 picks a free one
	TLS       *tls.Config // nil for none; then Address must be a loopback address or a socket
	Hostname  string      // in lower case
	Token     string      // not used on a unix socket; without one nobody else has access to logs and commands
	TokenFile string      // named in errors

	Debugging    bool   // serve logs and run commands
	LogDir       string // the directory of the kubelet's own log files; empty for none
	LogUnits     string // the services of this host whose logs are shown, without .service, with commas between them
	CAdvisorPort int    // of a cAdvisor on this host; 0 for none
	Version      string
	Certificates []api.Certificate // of this kubelet, for warnings
	Metrics      *Metrics
	Source       fs.FS // of the program, to which the stages of a change link
	Gates        features.Gates
}

// Kubelet is what the server needs of the kubelet. Its methods are safe for concurrent use; the first six do not block.
type Kubelet interface {
	// Health returns why the kubelet cannot manage its pods, or nil.
	Health() error
	// Pods returns the desired pods, sorted by full name.
	Pods() []api.Pod
	// Statuses returns the statuses of the last sync, sorted by full name, which the caller may change, a channel that is
	// closed when there are newer ones, and the error of the last look at Docker.
	Statuses() (pods []api.PodStatus, newer <-chan struct{}, err error)
	// Events returns the events after a number, oldest first, which the caller may change.
	Events(after uint64) []api.Event
	// Comparisons returns what is desired, observed and planned of each pod, by full name.
	Comparisons() map[string][]trace.Row
	// Load returns how much work the kubelet has.
	Load() api.Load

	// ContainerLogs writes the output of a container. To follow means to go on, over later attempts of the container
	// too, until ctx is done, the pod is gone or the container has run for the last time.
	ContainerLogs(ctx context.Context, podFullName, container string, opts api.LogOptions, out io.Writer) error
	// RunInContainer runs a command. When ctx is done it kills the command.
	RunInContainer(ctx context.Context, podFullName, container string, command []string, streams api.Streams) (exitCode int, err error)
	// ContainerStats measures a running container.
	ContainerStats(ctx context.Context, podFullName, container string) (api.ContainerStats, error)
}

// Server is the info server of one kubelet.
type Server struct {
	opts        Options
	token       string // no log and no answer holds it
	listener    net.Listener
	certificate *x509.Certificate // nil without TLS
	instance    string            // differs after a restart
	key         string            // see token.Key
	runKey      string            // see token.RunKey
	commands    sync.WaitGroup    // that run in containers

	mu   sync.Mutex
	live *page // guarded by mu: what the streams have sent last
}

// New opens the server's listener. Requests are answered once Serve is called.
func New(opts Options) (*Server, error) {
	s := &Server{opts: opts, token: cmp.Or(opts.Token, rand.Text()), instance: rand.Text()}
	var err error
	if s.listener, err = s.listen(); err != nil {
		return nil, err
	}
	if at, ok := s.listener.Addr().(*net.TCPAddr); ok {
		s.opts.Port = at.Port
	}
	s.key = token.Key(s.token, s.instance, opts.Address, s.opts.Port)
	s.runKey = token.RunKey(s.token, s.instance, opts.Address, s.opts.Port)
	return s, nil
}

// Serve answers requests until ctx is done, and then gives running ones a moment to end.
func (s *Server) Serve(ctx context.Context) error {
	server := &http.Server{
		Handler:           http.MaxBytesHandler(s.checkRequest(s.routes()), maxBodyBytes),
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          glog.NewStandardLogger("WARNING"),
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		shutdown, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
		defer cancel()
		if server.Shutdown(shutdown) != nil {
			server.Close()
		}
	})
	err := server.Serve(s.listener)
	if stop() {
		return fmt.Errorf("info server: %w", err)
	}
	<-ended
	s.commands.Wait() // net/http waits for no connection that is upgraded, and to kill a command may take longer than shutdownTimeout
	return nil
}

// routes maps each path to its handler and the access that it needs.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	add := func(pattern string, need access, serve handler) {
		mux.Handle(pattern, s.requireAccess(need, serve))
	}
	add("GET /{$}", reading, s.servePage)
	add("GET /static/{file}", anyone, s.servePageFile)
	add("GET /source/{file...}", anyone, s.serveSource)
	add("GET /stream", logs, s.servePageStream)
	add("GET /changes/{number}", logs, s.serveChange)
	add("POST /step", logs, s.serveStep)
	add("GET /healthz", anyone, s.serveHealth)
	add("GET /status", reading, s.serveStatus)
	add("GET /pods", reading, asJSON(s.pods))
	add("GET /node", reading, asJSON(s.node))
	add("GET /sources", reading, asJSON(s.sources))
	add("GET /events", reading, asJSON(s.events))
	add("GET /metrics", reading, s.serveMetrics)
	add("GET /podInfo", reading, asJSON(s.podInfo))
	add("GET /boundPods", reading, asJSON(s.boundPods))
	add("GET /spec/{$}", reading, asJSON(s.spec))
	add("/stats/{$}", reading, asJSON(s.machineStats)) // clients of 2014 post a question
	add("/stats/{pod}/{container}", reading, asJSON(s.containerStats))
	add("/stats/{namespace}/{pod}/{uid}/{container}", reading, asJSON(s.containerStats))
	add("POST /stop/{pod}", running, s.serveStop)
	add("POST /start/{pod}", running, s.serveStart)
	add("POST /restart/{pod}", running, s.serveRestart)
	if s.opts.Debugging {
		add("POST /break", logs, s.serveBreak)
		add("POST /exec/{pod}/{container}", running, s.serveExec)
		add("GET /containerLogs/{namespace}/{pod}/{container}", logs, s.serveContainerLogs)
		add("GET /containerLogs/{pod}/{container}", logs, s.serveContainerLogs)
		add("POST /run/{pod}/{container}", running, s.serveRun)
		add("POST /run/{namespace}/{pod}/{container}", running, s.serveRun)
		add("POST /run/{namespace}/{pod}/{uid}/{container}", running, s.serveRun)
		add("GET /logs/{$}", logs, s.serveHostLogs)
	}
	if s.opts.Debugging && s.opts.LogDir != "" {
		add("GET /logs/{file}", logs, s.serveHostLog)
	}
	return mux
}

// handler answers a request, or returns an error before it has written anything.
type handler func(w http.ResponseWriter, r *http.Request) error

// httpError is an error with an HTTP status.
type httpError struct {
	status int
	text   string
}

func (e *httpError) Error() string { return e.text }

func httpErrorf(status int, format string, args ...any) error {
	return &httpError{status, fmt.Sprintf(format, args...)}
}

// writeError answers with an error: with its own status, 404 for api.ErrNotFound, and 500 for others, which are logged.
func writeError(w http.ResponseWriter, r *http.Request, err error) {
	answer := &httpError{http.StatusInternalServerError, err.Error()}
	switch {
	case errors.As(err, &answer):
	case errors.Is(err, api.ErrNotFound):
		answer.status = http.StatusNotFound
	case r.Context().Err() != nil:
		panic(http.ErrAbortHandler) // the client is gone, or the kubelet stops
	default:
		glog.Warningf("info server: %s: %v", r.Pattern, err) // not the path, which the client chooses
	}
	if answer.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="kubelet14"`)
	}
	http.Error(w, answer.text, answer.status)
}

// asJSON answers with the value of get as JSON, indented with ?pretty=1.
func asJSON(get func(r *http.Request) (any, error)) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		pretty, err := boolParam(r, "pretty", false)
		if err != nil {
			return err
		}
		v, err := get(r)
		if err != nil {
			return err
		}
		w.Header().Set("Content-Type", "application/json")
		encoder := json.NewEncoder(w)
		if pretty {
			encoder.SetIndent("", "  ")
		}
		return encoder.Encode(v)
	}
}

// list is the JSON form of several items: {"items": [...]}.
func list[T any](items []T) any { return map[string][]T{"items": append([]T{}, items...)} } // [] and not null

func boolParam(r *http.Request, name string, otherwise bool) (bool, error) {
	text := cmp.Or(r.URL.Query().Get(name), strconv.FormatBool(otherwise))
	b, err := strconv.ParseBool(text)
	if err != nil {
		return false, httpErrorf(http.StatusBadRequest, "%s=%q: it must be 1 or 0", name, text)
	}
	return b, nil
}
