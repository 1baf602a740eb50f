package server

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// door is a way to a server: over TCP, with TLS, or through a socket.
type door struct {
	*Server
	transport *http.Transport
	base      string
}

// doorOf leads to a server from this host, whatever it listens on. Its name is
// localhost; with TLS certFile says whom to trust.
func doorOf(t testing.TB, s *Server, certFile string) *door {
	t.Helper()
	at := s.listener.Addr()
	d := &door{Server: s, base: "http://localhost", transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			to := at.String()
			if tcp, ok := at.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
				_, port, _ := net.SplitHostPort(to)
				to = net.JoinHostPort("127.0.0.1", port)
			}
			return new(net.Dialer).DialContext(ctx, at.Network(), to)
		},
	}}
	t.Cleanup(d.transport.CloseIdleConnections)
	if certFile != "" {
		certificate, err := os.ReadFile(certFile)
		if err != nil {
			t.Fatal(err)
		}
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(certificate)
		d.base, d.transport.TLSClientConfig = "https://localhost", &tls.Config{RootCAs: roots}
	}
	return d
}

func (d *door) ask(t testing.TB, request string, set ...func(*http.Request)) reply {
	t.Helper()
	var does []func(*http.Request)
	for _, do := range set {
		if do != nil {
			does = append(does, do)
		}
	}
	return askBy(t, d.transport, d.base, request, does...)
}

// refusals is how many requests were not let in for a reason, as /metrics has it.
func (d *door) refusals(t testing.TB, reason string) (n int) {
	t.Helper()
	_, rest, ok := strings.Cut(d.ask(t, "GET /metrics", withToken).body, `kubelet_http_requests_refused_total{reason="`+reason+`"} `)
	if _, err := fmt.Sscan(rest, &n); !ok || err != nil {
		t.Fatalf("/metrics does not count refusals for the %s: %v", reason, err)
	}
	return n
}

// onSocket makes a server listen on a socket in a directory of its own.
func onSocket(t testing.TB) func(*Options) {
	path := filepath.Join(t.TempDir(), "s")
	return func(o *Options) { o.Address, o.Token = unixPrefix+path, "" }
}

// withTLS makes a server listen on all addresses of this host, with a certificate for
// localhost and other names.
func withTLS(t testing.TB, names ...string) (certFile string, options func(*Options)) {
	t.Helper()
	certFile, keyFile := makeCertificate(t, append(names, "localhost")...)
	config, err := LoadTLS(certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	return certFile, func(o *Options) { o.Address, o.TLS = "0.0.0.0", config }
}

func makeCertificate(t testing.TB, names ...string) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(14), Subject: pkix.Name{CommonName: "kubelet14"}, DNSNames: names,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writeFile(t, certFile, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})), 0o644)
	writeFile(t, keyFile, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})), 0o600)
	return certFile, keyFile
}

func writeFile(t testing.TB, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil { // whatever the umask is
		t.Fatal(err)
	}
}

// withCookie sends the cookie that follows from a token.
func withCookie(of token) func(*http.Request) {
	return with("Cookie", cookieName+"="+of.cookie())
}

// says tells whether an answer refuses in one line that says why.
func (r reply) says(text string) bool {
	return strings.Contains(r.body, text) && strings.Count(r.body, "\n") == 1 && strings.HasSuffix(r.body, "\n")
}
