package config

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"kubelet14/api"
)

// How long a server may take: to be reached and then to begin its answer, and for
// all of it.
const (
	httpAnswerTime = 10 * time.Second
	httpBodyTime   = 30 * time.Second
)

// SourceHTTP is the source named "http": the manifests at a URL, asked for again
// and again.
type SourceHTTP struct {
	reporter
	url        string
	checkEvery time.Duration
	parser     Parser
	client     *http.Client

	// The body that the server sent last, and what became of it. It is good or bad
	// as a whole: one bad item refuses it all.
	body    part
	raw     []byte // nil when there was none
	etag    string // by which the server knows raw; empty when it did not say
	bodyErr error  // what is wrong with raw
}

// NewSourceHTTP returns the source for an http or https URL. A user and a password
// in it are sent to the server, and the password is shown nowhere; so an error does
// not quote the URL. checkEvery must be more than 0.
func NewSourceHTTP(manifestURL string, checkEvery time.Duration, parser Parser) (*SourceHTTP, error) {
	u, err := url.Parse(manifestURL)
	switch {
	case err != nil:
		return nil, errors.New("this is no URL: give one such as https://example.com/pods.yaml")
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return nil, errors.New("this is no URL of a web server: give one such as https://example.com/pods.yaml")
	}
	warnOfPlainText(u)
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = (&net.Dialer{Timeout: httpAnswerTime}).DialContext
	transport.ResponseHeaderTimeout = httpAnswerTime
	return &SourceHTTP{
		reporter:   reporter{title: "HTTP source", source: "http", place: u.Redacted()},
		url:        manifestURL,
		checkEvery: checkEvery,
		parser:     parser,
		client:     &http.Client{Transport: transport, Timeout: httpBodyTime, CheckRedirect: checkRedirect},
		body:       part{place: u.Redacted()},
	}, nil
}

// checkRedirect follows as many redirects as usual, but not from TLS to plain text.
func checkRedirect(next *http.Request, via []*http.Request) error {
	switch last := via[len(via)-1].URL; {
	case len(via) >= 10:
		return errors.New("it redirects again and again")
	case last.Scheme == "https" && next.URL.Scheme != "https":
		return fmt.Errorf("it redirects to %s, which is not safe: give that URL yourself if you mean it", next.URL.Redacted())
	}
	return nil
}

// Run sends a SET of all pods, and another one after every change of the pods or
// of the error, until ctx is done.
func (s *SourceHTTP) Run(ctx context.Context, updates chan<- api.PodUpdate) {
	defer s.client.CloseIdleConnections()
	check := time.NewTicker(s.checkEvery)
	defer check.Stop()
	for {
		s.read(ctx)
		if ctx.Err() != nil {
			return // the read failed because of that
		}
		send(ctx, updates, s.report(time.Now(), []*part{&s.body}, nil))
		select {
		case <-check.C:
		case <-ctx.Done():
			return
		}
	}
}

// read asks the server once. An error leaves the pods as they were.
func (s *SourceHTTP) read(ctx context.Context) {
	raw, etag, err := s.get(ctx)
	if err != nil {
		s.body.readErr = fmt.Errorf("get %s: %w", s.place, err)
	} else {
		// The same body is not looked at again, good or bad. 2014 remembered a bad one
		// too, but forgot that it was bad: the error was told once.
		if !bytes.Equal(raw, s.raw) {
			s.body.parsed, s.bodyErr = s.podsOf(raw)
		}
		s.raw, s.etag, s.body.readErr = raw, etag, s.bodyErr
	}
	settleClaims([]*part{&s.body})
}

// get returns the body and its ETag: the ones of the last time when the server
// says that they have not changed.
func (s *SourceHTTP) get(ctx context.Context) (body []byte, etag string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, nil)
	if err != nil {
		return nil, "", err
	}
	if s.etag != "" {
		request.Header.Set("If-None-Match", s.etag)
	}
	response, err := s.client.Do(request)
	if err != nil {
		return nil, "", inSteadyWords(withoutURL(err))
	}
	defer response.Body.Close()
	switch {
	case response.StatusCode == http.StatusNotModified && s.etag != "":
		return s.raw, s.etag, nil
	case response.StatusCode != http.StatusOK:
		return nil, "", fmt.Errorf("the server answers %q, and only 200 OK counts", response.Status)
	}
	body, err = io.ReadAll(io.LimitReader(response.Body, api.MaxManifestBytes+1))
	switch {
	case err != nil:
		return nil, "", inSteadyWords(err)
	case len(body) == 0:
		return nil, "", errors.New("the server sends an empty body: for no pods at all it is [], the empty list")
	case len(body) > api.MaxManifestBytes:
		return nil, "", fmt.Errorf("the server sends more than %d bytes", api.MaxManifestBytes)
	}
	return body, response.Header.Get("ETag"), nil
}

// podsOf reads a manifest, several, or a list of them. A pod without an id is named
// by its number, as in 2014.
func (s *SourceHTTP) podsOf(body []byte) ([]api.Pod, error) {
	docs, err := s.parser.manifestsOrList(s.place, body)
	if err != nil {
		return nil, err
	}
	return s.parser.pods("http", s.place, docs, strconv.Itoa)
}
