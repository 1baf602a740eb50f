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

// serveRun runs a command in a container, and kills it when the client is gone. The trailer Exit-Code or Error follows
// the output.
func (s *Server) serveRun(w http.ResponseWriter, r *http.Request) error {
	body, err := io.ReadAll(r.Body) // net/http notices that a client is gone only once its body is read
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		return httpErrorf(http.StatusRequestEntityTooLarge, "a command may have %d bytes", tooLarge.Limit)
	}
	if err != nil {
		return httpErrorf(http.StatusBadRequest, "read the command: %v", err)
	}
	command, err := parseCommand(r.URL.RawQuery, r.Header.Get("Content-Type"), body)
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
	defer out.close()
	w.Header().Set("Trailer", "Exit-Code, Error")
	exitCode, err := s.opts.Kubelet.RunInContainer(r.Context(), pod, container, command, out)
	switch {
	case err == nil:
		if err := out.begin(); err != nil { // a header that is set before the status would be no trailer
			return nil // the client is gone
		}
		w.Header().Set("Exit-Code", strconv.Itoa(exitCode))
	case out.begun:
		w.Header().Set("Error", oneLine(err.Error()))
	default:
		w.Header().Del("Trailer")
	}
	return out.end(err)
}

// parseCommand reads the words of a command: a cmd for each word in the query or in a form, or a JSON list. It splits no words.
func parseCommand(query, contentType string, body []byte) ([]string, error) {
	words, err := cmdValues("query", query)
	if err != nil {
		return nil, err
	}
	if len(body) > 0 {
		if len(words) > 0 {
			return nil, httpErrorf(http.StatusBadRequest, "both the query and the body hold a command: give it once")
		}
		kind, _, _ := mime.ParseMediaType(contentType)
		switch kind {
		case "application/json":
			if err := json.Unmarshal(body, &words); err != nil {
				return nil, httpErrorf(http.StatusBadRequest, `the body must be a list of words in JSON, such as ["ls", "-l"]: %v`, err)
			}
		case "application/x-www-form-urlencoded":
			if words, err = cmdValues("body", string(body)); err != nil {
				return nil, err
			}
		default:
			return nil, httpErrorf(http.StatusUnsupportedMediaType, "Content-Type %q: a body must be application/x-www-form-urlencoded, "+
				"with a cmd for each word, or application/json, a list of words", contentType)
		}
	}
	if len(words) == 0 || words[0] == "" {
		return nil, httpErrorf(http.StatusBadRequest, "there is no command: give a cmd for each word of it, such as ?cmd=ls&cmd=-l")
	}
	return words, nil
}

// cmdValues returns the values of cmd. A part that cannot be parsed, such as an unescaped semicolon, is an error, since
// the rest would be another command.
func cmdValues(where, encoded string) ([]string, error) {
	values, err := url.ParseQuery(encoded)
	if err != nil {
		return nil, httpErrorf(http.StatusBadRequest, "the %s is not well encoded: %v; curl does it with --data-urlencode cmd=…", where, err)
	}
	return values["cmd"], nil
}
