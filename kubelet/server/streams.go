package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"github.com/golang/glog"

	"kubelet14/api"
)

// serveContainerLogs answers with the output of a container. To follow sends the status at once, before the container
// prints anything; otherwise it comes with the first byte, so that an error can have a status of its own.
func (s *Server) serveContainerLogs(w http.ResponseWriter, r *http.Request) error {
	opts, err := logOptions(r)
	if err != nil {
		return err
	}
	pod, container, err := s.findContainer(r)
	if err != nil {
		return err
	}
	out := newStream(w, r)
	defer out.close()
	if r.Method == http.MethodHead {
		return nil
	}
	if opts.Follow {
		out.begin()
	}
	err = s.opts.Kubelet.ContainerLogs(r.Context(), pod, container, opts, out)
	if err == nil && r.Context().Err() != nil {
		panic(http.ErrAbortHandler) // the kubelet stops: a client that follows must not take this for the end of the log
	}
	return out.end(err)
}

// logOptions reads the query: everything that is kept, unless it says otherwise.
func logOptions(r *http.Request) (api.LogOptions, error) {
	var errs []error
	param := func(name string, otherwise bool) bool {
		value, err := boolParam(r, name, otherwise)
		errs = append(errs, err)
		return value
	}
	opts := api.LogOptions{
		Tail: -1, Follow: param("follow", false), Timestamps: param("timestamps", false), Previous: param("previous", false),
		Stdout: param("stdout", true), Stderr: param("stderr", true),
	}
	if text := r.URL.Query().Get("tail"); text != "" && text != "all" {
		n, err := strconv.ParseUint(text, 10, 31)
		if err != nil {
			return opts, httpErrorf(http.StatusBadRequest, "tail=%q: it must be a number of lines, 0 or more, or all", text)
		}
		opts.Tail = int(n)
	}
	if text := r.URL.Query().Get("since"); text != "" {
		ago, err := time.ParseDuration(text)
		if opts.Since = time.Now().Add(-ago); err != nil {
			opts.Since, err = time.Parse(time.RFC3339, text)
		}
		if err != nil {
			return opts, httpErrorf(http.StatusBadRequest, "since=%q: it must be a duration, such as 5m, or a time, such as 2014-10-23T12:00:00Z", text)
		}
	}
	switch {
	case !opts.Stdout && !opts.Stderr:
		return opts, httpErrorf(http.StatusBadRequest, "stdout=0 and stderr=0 leave nothing: leave one of them out")
	case opts.Previous && opts.Follow:
		return opts, httpErrorf(http.StatusBadRequest, "previous=1 and follow=1 cannot be combined: the previous attempt prints nothing more")
	}
	return opts, errors.Join(errs...)
}

// stream is a text answer without a time limit. Each write is flushed. It is not safe for concurrent use.
type stream struct {
	w       http.ResponseWriter
	r       *http.Request
	control *http.ResponseController
	close   func() bool // to call at the end
	begun   bool        // the status is sent
}

// newStream returns a stream. When its request is canceled, the rest of its output gets a time limit, so that
// a client that does not read cannot delay the end of its command.
func newStream(w http.ResponseWriter, r *http.Request) *stream {
	s := &stream{w: w, r: r, control: clearDeadlines(w)}
	w.Header().Set("Trailer", "Error")
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	s.close = context.AfterFunc(r.Context(), func() { limitWrites(s.control) })
	return s
}

// limitWrites gives what is still to be written lastWriteTimeout from now.
func limitWrites(to interface{ SetWriteDeadline(time.Time) error }) {
	_ = to.SetWriteDeadline(time.Now().Add(lastWriteTimeout))
}

// clearDeadlines lifts the time limits of a request.
func clearDeadlines(w http.ResponseWriter) *http.ResponseController {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{}) // every connection of net/http has deadlines
	_ = control.SetWriteDeadline(time.Time{})
	return control
}

// begin sends the status before the first write. An error is that of a later write, too.
func (s *stream) begin() {
	if !s.begun {
		s.begun = true
		s.w.WriteHeader(http.StatusOK)
		_ = s.control.Flush()
	}
}

func (s *stream) Write(piece []byte) (int, error) {
	if len(piece) == 0 {
		return 0, nil
	}
	s.begun = true
	if n, err := s.w.Write(piece); err != nil {
		return n, err
	}
	return len(piece), s.control.Flush()
}

// end reports an error to the client: before the first write as an HTTP status, which it returns, later in the trailer Error, and
// as a last line to clients that do not ask for trailers.
func (s *stream) end(err error) error {
	switch {
	case err == nil:
		return nil
	case !s.begun:
		s.w.Header().Del("Trailer")
		return err
	case s.r.Context().Err() != nil:
		limitWrites(s.control) // what had to end may have taken longer than that
	case !errors.Is(err, api.ErrNotFound):
		glog.Warningf("info server: %s: %v", s.r.Pattern, err)
	}
	text := api.OneLine(err.Error())
	if s.w.Header().Set("Error", text); s.r.Header.Get("TE") != "trailers" {
		_, _ = fmt.Fprintf(s, "\nkubelet14: %s\n", text)
	}
	return nil
}

// serveRun runs a command in a container, and kills it when the client is gone. The trailer Exit-Code or Error follows
// the output.
func (s *Server) serveRun(w http.ResponseWriter, r *http.Request) error {
	command, err := parseCommand(r)
	if err != nil {
		return err
	}
	pod, container, err := s.findContainer(r)
	if err != nil {
		return err
	}
	s.commands.Add(1)
	defer s.commands.Done()
	out := newStream(w, r)
	defer out.close()
	w.Header().Add("Trailer", "Exit-Code")
	exitCode, err := s.opts.Kubelet.RunInContainer(r.Context(), pod, container, command, api.Streams{Stdout: out, Stderr: out})
	if err == nil {
		out.begin() // a header that is set before the status would be no trailer
		w.Header().Set("Exit-Code", strconv.Itoa(exitCode))
	}
	return out.end(err)
}

// parseCommand reads the words of a command: one cmd each in the query or a form, or a JSON list. It splits no word and ignores
// nothing.
func parseCommand(r *http.Request) (words []string, err error) {
	formErr := r.ParseForm()
	body, err := io.ReadAll(r.Body) // unless it was a form; net/http notices that a client is gone only once its body is read
	err = cmp.Or(formErr, err)
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	tooLarge := new(http.MaxBytesError)
	switch {
	case errors.As(err, &tooLarge):
		return nil, httpErrorf(http.StatusRequestEntityTooLarge, "a command may have %d bytes", tooLarge.Limit)
	case err != nil:
		return nil, httpErrorf(http.StatusBadRequest, "the command is not well encoded: %v; curl does it with --data-urlencode cmd=…", err)
	case r.URL.Query().Has("cmd") && len(body)+len(r.PostForm) > 0:
		return nil, httpErrorf(http.StatusBadRequest, "both the query and the body hold a command: give it once")
	case len(body) == 0:
		words = r.Form["cmd"]
	case kind != "application/json":
		return nil, httpErrorf(http.StatusUnsupportedMediaType, "Content-Type %q: a body must be application/x-www-form-urlencoded, "+
			"with a cmd for each word, or application/json, a list of words", r.Header.Get("Content-Type"))
	default:
		if err := json.Unmarshal(body, &words); err != nil {
			return nil, httpErrorf(http.StatusBadRequest, `the body must be a list of words in JSON, such as ["ls", "-l"]: %v`, err)
		}
	}
	if len(words) == 0 || words[0] == "" {
		return nil, httpErrorf(http.StatusBadRequest, "there is no command: give a cmd for each word of it, such as ?cmd=ls&cmd=-l")
	}
	return words, nil
}

// logName matches the names of glog's files. The log directory may hold other files, such as the token.
var logName = regexp.MustCompile(`^[^/]+\.log\.(INFO|WARNING|ERROR|FATAL)\.\d{8}-\d{6}\.\d+$`)

func isLog(name string, info fs.FileInfo) bool {
	return logName.MatchString(name) && info.Mode().IsRegular()
}

// serveHostLogs lists the kubelet's own log files. In 2014 it was all of /var/log.
func (s *Server) serveHostLogs(w http.ResponseWriter, r *http.Request) error {
	if s.opts.LogDir == "" || r.URL.Query().Has("query") {
		return s.serveUnitLogs(w, r)
	}
	entries, err := os.ReadDir(s.opts.LogDir)
	if err != nil {
		return fmt.Errorf("list the log directory: %w", err)
	}
	var files []fs.FileInfo
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && isLog(entry.Name(), info) {
			files = append(files, info)
		}
	}
	return writeHTML(w, "logs.html", map[string]any{"Files": files, "Key": s.key})
}

// serveHostLog answers with one log file, or a range of it.
func (s *Server) serveHostLog(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("file")
	if info, err := os.Lstat(filepath.Join(s.opts.LogDir, name)); err != nil || !isLog(name, info) {
		return httpErrorf(http.StatusNotFound, "there is no log file %q: /logs/ lists them", name)
	}
	clearDeadlines(w) // the file may be large, and the network slow
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	http.ServeFileFS(w, r, os.DirFS(s.opts.LogDir), name)
	return nil
}
