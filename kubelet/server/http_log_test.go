package server

import (
	"context"
	"crypto/tls"
	"flag"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"kubelet14/api"
)

// A handler that fails is somebody's business, and a client that breaks off is not.
func TestWhatNetHTTPSaysGoesToTheLog(t *testing.T) {
	k, _, options := fullKubelet(t)
	k.logs = func(context.Context, string, string, api.LogOptions, io.Writer) error { panic("a bug") }
	s := serve(t, k, options)
	certFile, onTLS := withTLS(t)
	secured := doorOf(t, serve(t, k, onTLS), certFile)
	for verbose, want := range map[string]bool{"0": false, "2": true} {
		text := logged(t, func() {
			flag.Set("v", verbose)
			r, err := http.NewRequestWithContext(t.Context(), "GET", s.URL()+"containerLogs/default/web/c", nil)
			if err != nil {
				t.Fatal(err)
			}
			withToken(r)
			if resp, err := http.DefaultTransport.RoundTrip(r); err == nil {
				resp.Body.Close()
				t.Errorf("the handler panics, and the answer is %s", resp.Status)
			}
			conn, err := secured.transport.DialContext(t.Context(), "", "")
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			conn.SetDeadline(time.Now().Add(time.Minute))
			if err := tls.Client(conn, &tls.Config{ServerName: "localhost"}).Handshake(); err == nil { // it trusts nobody
				t.Error("the handshake is done")
			}
			io.Copy(io.Discard, conn) // the server logs before it closes
		})
		if !strings.Contains(text, "info server: http: panic serving") || !strings.Contains(text, "a bug") {
			t.Errorf("-v=%s: the panic is not in the log:\n%s", verbose, text)
		}
		if got := strings.Contains(text, "TLS handshake error"); got != want {
			t.Errorf("-v=%s: the client that broke off is in the log: %v, want %v:\n%s", verbose, got, want, text)
		}
	}
}
