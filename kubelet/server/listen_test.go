package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

func makeCertificate(t testing.TB, names ...string) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(14), Subject: pkix.Name{CommonName: "kubelet14"}, DNSNames: names, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
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
	return writeFile(t, filepath.Join(dir, "cert.pem"), string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})), 0o644),
		writeFile(t, filepath.Join(dir, "key.pem"), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})), 0o600)
}

func TestCheckAddress(t *testing.T) {
	long := "/" + strings.Repeat("x", maxUnixPath)
	for _, tt := range []struct {
		address string
		port    int
		tls     bool
		want    string // the error; empty: none
	}{
		{"127.0.0.1", 10250, false, ""},
		{"127.0.0.2", 0, false, ""},
		{"::1", 65535, false, ""},
		{"127.0.0.1", 10250, true, ""},
		{"0.0.0.0", 10250, true, ""},
		{"::", 10250, true, ""},
		{"10.0.0.5", 10250, true, ""},
		{"unix:/run/kubelet14.sock", 10250, false, ""},
		{"unix:" + long[:maxUnixPath], 10250, false, ""},
		{"0.0.0.0", 10250, false, "-address=0.0.0.0 can be reached from other hosts, and the token could be read on the way: give -tls_cert_file and -tls_private_key_file, or a loopback address"},
		{"::", 10250, false, "-address=:: can be reached"},
		{"10.0.0.5", 10250, false, "-address=10.0.0.5 can be reached"},
		{"::ffff:10.0.0.5", 10250, false, "can be reached"},
		{"fe80::1", 10250, false, "can be reached"},
		{"localhost", 10250, false, "-address=localhost is not an IP address: give one, such as 127.0.0.1"},
		{"", 10250, true, "-address= is not an IP address"},
		{"127.1", 10250, false, "is not an IP address"},
		{"127.0.0.1:80", 10250, false, "is not an IP address"},
		{"[::1]", 10250, false, "is not an IP address"},
		{"127.0.0.1", -1, false, "-port=-1 is not a port: give one from 1 to 65535, or 0 for a free one"},
		{"127.0.0.1", 65536, false, "-port=65536 is not a port"},
		{"unix:", 10250, false, "-address=unix:: a socket needs an absolute path, such as unix:/run/kubelet14.sock"},
		{"unix:kubelet14.sock", 10250, false, "an absolute path"},
		{"unix:@kubelet14", 10250, false, "an absolute path"}, // no file, and so open to all
		{"unix:" + long, 10250, false, "the path of a socket has at most 107 bytes, and this has 108"},
		{"unix:/run/kubelet14.sock", 10250, true, "-tls_cert_file and a unix socket exclude each other"},
	} {
		err := CheckAddress(tt.address, tt.port, tt.tls)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s, port %d, TLS %v: %v", tt.address, tt.port, tt.tls, err)
		}
		if err == nil {
			continue
		}
		opts := testOptions(&fakeKubelet{})
		if tt.tls {
			withTLS(t)(&opts)
		}
		opts.Address, opts.Port = tt.address, tt.port
		if s, err := New(opts); err == nil {
			s.listener.Close()
			t.Errorf("%s, port %d, TLS %v: New makes a server", tt.address, tt.port, tt.tls)
		}
	}
}

func TestURL(t *testing.T) {
	for _, tt := range []struct {
		options func(*Options)
		want    string
	}{
		{func(*Options) {}, `^http://127\.0\.0\.1:\d+/$`},
		{func(o *Options) { o.Address = "127.0.0.2" }, `^http://127\.0\.0\.2:\d+/$`},
		{withTLS(t, "test-host"), `^https://test-host:\d+/$`},
		{onSocket(t), `^unix:/.*/s$`},
	} {
		s := serve(t, &fakeKubelet{}, tt.options)
		if got := s.URL(); !regexp.MustCompile(tt.want).MatchString(got) {
			t.Errorf("it is %s, want %s", got, tt.want)
		}
		if got := s.ask(t, "GET /healthz"); got.status != 200 {
			t.Errorf("%s answers %d %s", s.URL(), got.status, got.body)
		}
	}
}

func TestAddressesThatCannotBeUsed(t *testing.T) {
	at := serve(t, &fakeKubelet{}).listener.Addr().(*net.TCPAddr)
	want := fmt.Sprintf("info server: %s is taken by another program, maybe another kubelet: give another -port, or -enable_server=false", at)
	if _, err := New(testOptions(&fakeKubelet{}, func(o *Options) { o.Port = at.Port })); err == nil || err.Error() != want {
		t.Errorf("it returns %v, want %s", err, want)
	}
	want = "info server: this host has no address 192.0.2.1: give another -address" // of RFC 5737, which no host has
	if _, err := New(testOptions(&fakeKubelet{}, withTLS(t), func(o *Options) { o.Address = "192.0.2.1" })); err == nil || err.Error() != want {
		t.Errorf("it returns %v, want %s", err, want)
	}
}

func TestCertificatesThatCannotBeUsed(t *testing.T) {
	cert, key := makeCertificate(t, "a.example")
	_, otherKey := makeCertificate(t, "b.example")
	bad := writeFile(t, filepath.Join(t.TempDir(), "bad.pem"), "nothing\n", 0o600)
	if config, err := LoadTLS(cert, key); err != nil || config.MinVersion < 0x0303 {
		t.Errorf("a good one gives %+v, %v", config, err)
	}
	for name, tt := range map[string]struct{ cert, key, want string }{
		"no certificate":     {"/nothing.pem", key, "open /nothing.pem: no such file or directory"},
		"no key":             {cert, "/nothing.pem", "open /nothing.pem: no such file or directory"},
		"no PEM":             {bad, key, "PEM"},
		"a key without PEM":  {cert, bad, "PEM"},
		"key of another":     {cert, otherKey, "private key does not match public key"},
		"both the other way": {key, cert, "PEM"},
	} {
		config, err := LoadTLS(tt.cert, tt.key)
		prefix := fmt.Sprintf("read -tls_cert_file=%s and -tls_private_key_file=%s: ", tt.cert, tt.key)
		if err == nil || config != nil || !strings.HasPrefix(err.Error(), prefix) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: it returns %v, %v", name, config, err)
		}
	}
}

func TestASocketIsForItsOwnerAlone(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0)) // whatever it is
	var path string
	t.Run("while it is there", func(t *testing.T) {
		s := serve(t, &fakeKubelet{}, onSocket(t))
		path = strings.TrimPrefix(s.URL(), unixPrefix)
		if info, err := os.Lstat(path); err != nil || info.Mode() != os.ModeSocket|0o600 || s.Link() != "" {
			t.Errorf("it is %v, %v; the link is %q", info.Mode(), err, s.Link())
		}
		if got := s.ask(t, "GET /pods"); got.status != 200 {
			t.Errorf("it answers %d %s", got.status, got.body)
		}
	})
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("after its end it is still there: %v", err)
	}
}

func TestAFileAtTheAddressOfASocket(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	socket := func(name string) func(*Options) {
		return func(o *Options) { o.Address, o.Token = unixPrefix+at(name), "" }
	}
	writeFile(t, at("file"), "mine", 0o600)
	if err := os.Symlink(at("file"), at("link")); err != nil {
		t.Fatal(err)
	}
	other, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: at("other kind"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	used := serve(t, &fakeKubelet{}, socket("used"))
	for name, want := range map[string]string{
		"file": "is taken", "link": "is taken", "other kind": "is taken", "used": "another program listens on " + at("used"), "no/directory": at("no/directory"),
	} {
		if _, err := New(testOptions(&fakeKubelet{}, socket(name))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: it returns %v", name, err)
		}
	}
	if text, err := os.ReadFile(at("file")); string(text) != "mine" {
		t.Errorf("the file holds %q, %v", text, err)
	}
	if got := used.ask(t, "GET /healthz"); got.status != 200 {
		t.Errorf("the used one answers %d", got.status)
	}
	// A kubelet that was killed leaves its socket behind.
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: at("stale"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	stale.SetUnlinkOnClose(false)
	stale.Close()
	if got := serve(t, &fakeKubelet{}, socket("stale")).ask(t, "GET /healthz"); got.status != 200 {
		t.Errorf("in the place of an old one it answers %d", got.status)
	}
}
