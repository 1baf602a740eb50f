package config

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"kubelet14/api"
)

// httpTimeout is the time limit for a whole response.
const httpTimeout = 20 * time.Second

// SourceHTTP is the source "http": the manifests at a URL, which it polls.
type SourceHTTP struct {
	source
	client  *http.Client
	request *http.Request
	etag    string // of the latest body; empty if the server sent none
}

// NewSourceHTTP returns the source for an http or https URL. A user and a password in it are sent to the server, and
// the password is in no error, status or log. pollInterval must be more than 0.
func NewSourceHTTP(manifestURL string, pollInterval time.Duration, parser Parser) (*SourceHTTP, error) {
	request, err := http.NewRequest(http.MethodGet, manifestURL, nil)
	if err != nil || request.URL.Scheme != "http" && request.URL.Scheme != "https" || request.URL.Hostname() == "" {
		return nil, errors.New("this is not the URL of a web server: give one such as https://example.com/pods.yaml")
	}
	warnOfPlainHTTP(request.URL)
	return &SourceHTTP{
		source:  newSource("HTTP source", "http", request.URL.Redacted(), pollInterval, parser),
		client:  &http.Client{Timeout: httpTimeout, CheckRedirect: checkRedirect},
		request: request,
	}, nil
}

// checkRedirect follows up to ten redirects, but none from https to http.
func checkRedirect(next *http.Request, via []*http.Request) error {
	switch last := via[len(via)-1].URL; {
	case len(via) >= 10:
		return errors.New("it redirects too often")
	case last.Scheme == "https" && next.URL.Scheme != "https":
		return fmt.Errorf("it redirects to %s, which is not safe: give that URL yourself if you mean it", next.URL.Redacted())
	}
	return nil
}

func (s *SourceHTTP) Run(ctx context.Context, updates chan<- api.PodUpdate) {
	defer s.client.CloseIdleConnections()
	for {
		err := s.poll(ctx, s.inputs[""])
		if ctx.Err() != nil {
			return // the reason of the error
		}
		if err != nil {
			s.inputs[""].err = fmt.Errorf("get %s: %w", s.place, stableMessage(err))
		}
		select {
		case <-time.After(s.publish(ctx, updates)):
		case <-ctx.Done():
			return
		}
	}
}

// poll asks the server once. The error says why there is no body.
func (s *SourceHTTP) poll(ctx context.Context, body *input) error {
	request := s.request.Clone(ctx)
	conditional := s.etag != "" && body.err == nil // a bad body is read again
	if conditional {
		request.Header.Set("If-None-Match", s.etag)
	}
	response, err := s.client.Do(request)
	if e := (*url.Error)(nil); errors.As(err, &e) {
		return e.Err // without the URL, which may have a password
	}
	defer response.Body.Close()
	switch {
	case response.StatusCode == http.StatusNotModified && conditional:
		return nil
	case response.StatusCode != http.StatusOK:
		return fmt.Errorf("the server answers %q, and only 200 OK counts", response.Status)
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, api.MaxManifestBytes+1))
	if err != nil {
		return fmt.Errorf("the body breaks off: %w", err)
	}
	if response.ProtoMajor == 1 && response.ContentLength < 0 && len(response.TransferEncoding) == 0 && !response.Uncompressed {
		return errors.New("the server does not say where the body ends, so the rest of it may be missing: " +
			"use a server that sends a Content-Length, as python3 -m http.server does, or HTTP/1.1 with chunks")
	}
	if len(text) == 0 {
		return errors.New("the server sends an empty body: for no pods at all it is [], the empty list")
	}
	s.etag = response.Header.Get("ETag")
	body.load(string(text), func() ([]object, error) {
		return s.parser.objects("http", s.place, text, strconv.Itoa)
	})
	return nil
}
