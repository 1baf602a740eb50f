package server

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
)

// The trailers of /run: one of them comes after what the command has printed.
const (
	trailerExitCode = "Exit-Code"
	trailerError    = "Error"
)

// serveRun runs a command in a container. It is ended when the client goes. In 2014 a
// GET did that, split the command at its spaces, and told no exit code.
func (s *Server) serveRun(w http.ResponseWriter, r *http.Request) error {
	// The body is read to its end whatever is in it: only then does net/http watch for
	// a client that goes.
	acceptBody(w, r)
	body, err := io.ReadAll(r.Body)
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		return refuse(http.StatusRequestEntityTooLarge, "a command may have %d bytes", tooLarge.Limit)
	}
	if err != nil {
		return refuse(http.StatusBadRequest, "read the command: %v", err)
	}
	command, err := commandOf(r.URL.RawQuery, r.Header.Get("Content-Type"), body)
	if err != nil {
		return err
	}
	pod, container, err := s.findContainer(r)
	if err != nil {
		return err
	}
	out, err := newStream(w, r)
	if err != nil {
		return err
	}
	defer out.leave()
	w.Header().Set("Trailer", trailerExitCode+", "+trailerError)
	exitCode, err := s.opts.Kubelet.RunInContainer(r.Context(), pod, container, command, out)
	if err == nil {
		// What is set before the status is out would be no trailer.
		if err := out.begin(); err != nil {
			return nil // the client is gone
		}
		w.Header().Set(trailerExitCode, strconv.Itoa(exitCode))
		return nil
	}
	if out.begun {
		w.Header().Set(trailerError, oneLine(err))
	} else {
		w.Header().Del("Trailer")
	}
	return out.end(err)
}

// commandOf reads the words of a command: one cmd for each, in the query or in a form,
// or a list in JSON. Nothing is split, and nothing is left out in silence.
func commandOf(query, contentType string, body []byte) ([]string, error) {
	words, err := cmdValues("query", query)
	if err != nil {
		return nil, err
	}
	if len(body) > 0 {
		if len(words) > 0 {
			return nil, refuse(http.StatusBadRequest, "the query has a command, and there is a body too: give the command once")
		}
		kind, _, _ := mime.ParseMediaType(contentType)
		switch kind {
		case "application/json":
			if err := json.Unmarshal(body, &words); err != nil {
				return nil, refuse(http.StatusBadRequest, `the body must be a list of words in JSON, such as ["ls", "-l"]: %v`, err)
			}
		case "application/x-www-form-urlencoded":
			if words, err = cmdValues("body", string(body)); err != nil {
				return nil, err
			}
		default:
			return nil, refuse(http.StatusUnsupportedMediaType, "Content-Type %q: a body must be application/x-www-form-urlencoded, with a cmd for each word, or application/json, a list of words", contentType)
		}
	}
	if len(words) == 0 || words[0] == "" {
		return nil, refuse(http.StatusBadRequest, "there is no command: give a cmd for each word of it, such as ?cmd=ls&cmd=-l")
	}
	return words, nil
}

// cmdValues are the values of cmd. The parser passes over what it cannot read, such as
// a semicolon that is not escaped, and the rest would be another command.
func cmdValues(where, encoded string) ([]string, error) {
	values, err := url.ParseQuery(encoded)
	if err != nil {
		return nil, refuse(http.StatusBadRequest, "the %s is not well encoded: %v; curl does it with --data-urlencode cmd=…", where, err)
	}
	return values["cmd"], nil
}
