package server

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
)

// serveRun runs a command in a container, and kills it when the client is gone. The trailer Exit-Code or Error follows
// the output.
func (s *Server) serveRun(w http.ResponseWriter, r *http.Request) error {
	command, err := parseCommand(r)
	tooLarge, answered := new(http.MaxBytesError), new(httpError)
	switch {
	case errors.As(err, &tooLarge):
		return httpErrorf(http.StatusRequestEntityTooLarge, "a command may have %d bytes", tooLarge.Limit)
	case errors.As(err, &answered):
		return err
	case err != nil:
		return httpErrorf(http.StatusBadRequest, "the command is not well encoded: %v; curl does it with --data-urlencode cmd=…", err)
	}
	pod, container, err := s.findContainer(r)
	if err != nil {
		return err
	}
	out, err := newStream(w, r)
	if err != nil {
		return err
	}
	defer out.close()
	w.Header().Set("Trailer", "Exit-Code, Error")
	exitCode, err := s.opts.Kubelet.RunInContainer(r.Context(), pod, container, command, out)
	switch {
	case err == nil:
		out.begin() // a header that is set before the status would be no trailer
		w.Header().Set("Exit-Code", strconv.Itoa(exitCode))
	case out.begun:
		w.Header().Set("Error", oneLine(err.Error()))
	default:
		w.Header().Del("Trailer")
	}
	return out.end(err)
}

// parseCommand reads the words of a command: a cmd for each word in the query or in a form, or a JSON list. It splits no words
// and ignores nothing.
func parseCommand(r *http.Request) (words []string, err error) {
	if err := r.ParseForm(); err != nil {
		return nil, err
	}
	body, err := io.ReadAll(r.Body) // unless it was a form; net/http notices that a client is gone only once its body is read
	if err != nil {
		return nil, err
	}
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
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
