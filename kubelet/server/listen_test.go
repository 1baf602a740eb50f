package server

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

func TestCheckAddress(t *testing.T) {
	long := "/" + strings.Repeat("x", maxUnixPath)
	for _, tt := range []struct {
		address string
		port    int
		tls     bool
		want    string // empty: it is good
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
		// Whoever forgets to check makes no server either.
		opts := testOptions(&fakeKubelet{}, func(o *Options) { o.Address, o.Port = tt.address, tt.port })
		if tt.tls {
			_, tls := withTLS(t)
			tls(&opts)
			opts.Address = tt.address
		}
		if s, err := New(opts); err == nil {
			s.listener.Close()
			t.Errorf("%s, port %d, TLS %v: a server listens there", tt.address, tt.port, tt.tls)
		}
	}
}

func TestEveryLoopbackAddressWillDo(t *testing.T) {
	for _, address := range []string{"127.0.0.1", "127.0.0.2", "::1"} {
		if listener, err := net.Listen("tcp", net.JoinHostPort(address, "0")); err != nil {
			t.Logf("this host has no %s: %v", address, err)
			continue
		} else {
			listener.Close()
		}
		s := serve(t, &fakeKubelet{}, func(o *Options) { o.Address = address })
		if got := ask(t, s, "GET /pods"); got.status != 200 {
			t.Errorf("%s answers %d %s", s.URL(), got.status, got.body)
		}
	}
}

func TestURL(t *testing.T) {
	_, tls := withTLS(t, "test-host")
	for name, tt := range map[string]struct {
		options func(*Options)
		want    string
	}{
		"loopback":      {func(*Options) {}, `^http://127\.0\.0\.1:\d+/$`},
		"all addresses": {tls, `^https://test-host:\d+/$`},
		"a socket":      {onSocket(t), `^unix:/.*/s$`},
	} {
		if got := serve(t, &fakeKubelet{}, tt.options).URL(); !regexp.MustCompile(tt.want).MatchString(got) {
			t.Errorf("%s: it is %s", name, got)
		}
	}
}

func TestAPortThatIsTaken(t *testing.T) {
	s := serve(t, &fakeKubelet{})
	at := s.listener.Addr().(*net.TCPAddr)
	_, err := New(testOptions(&fakeKubelet{}, func(o *Options) { o.Port = at.Port }))
	if want := fmt.Sprintf("info server: %s is taken by another program, maybe another kubelet: give another -port, or -enable_server=false", at); err == nil || err.Error() != want {
		t.Errorf("it says %v, want %s", err, want)
	}
}

func TestAnAddressOfAnotherHost(t *testing.T) {
	_, tls := withTLS(t)
	opts := testOptions(&fakeKubelet{}, tls, func(o *Options) { o.Address = "192.0.2.1" }) // is nobody's (RFC 5737)
	if _, err := New(opts); err == nil || err.Error() != "info server: this host has no address 192.0.2.1: give another -address" {
		t.Errorf("it says %v", err)
	}
}

func TestCertificatesThatCannotBeUsed(t *testing.T) {
	cert, key := makeCertificate(t, "a.example")
	_, otherKey := makeCertificate(t, "b.example")
	bad := filepath.Join(t.TempDir(), "bad.pem")
	writeFile(t, bad, "nothing\n", 0o600)
	if config, err := LoadTLS(cert, key); err != nil || config.MinVersion < 0x0303 {
		t.Errorf("a good one gives %+v, %v", config, err)
	}
	for name, tt := range map[string]struct{ cert, key, want string }{
		"no certificate":     {"/nothing.pem", key, "open /nothing.pem: no such file or directory"},
		"no key":             {cert, "/nothing.pem", "open /nothing.pem: no such file or directory"},
		"a directory":        {t.TempDir(), key, "is a directory"},
		"no PEM":             {bad, key, "PEM"},
		"a key without PEM":  {cert, bad, "PEM"},
		"key of another":     {cert, otherKey, "private key does not match public key"},
		"both the other way": {key, cert, "PEM"},
	} {
		config, err := LoadTLS(tt.cert, tt.key)
		prefix := fmt.Sprintf("read -tls_cert_file=%s and -tls_private_key_file=%s: ", tt.cert, tt.key)
		if err == nil || config != nil || !strings.HasPrefix(err.Error(), prefix) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: it gives %v, %v", name, config, err)
		}
	}
}

// socketServer makes a server on a socket that nothing ends by itself.
func socketServer(t *testing.T, path string) (*Server, error) {
	t.Helper()
	return New(testOptions(&fakeKubelet{}, func(o *Options) { o.Address, o.Token = unixPrefix+path, "" }))
}

func TestASocketIsForItsOwnerAlone(t *testing.T) {
	old := syscall.Umask(0) // whatever it is
	defer syscall.Umask(old)
	path := filepath.Join(t.TempDir(), "s")
	s, err := socketServer(t, path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(path)
	if err != nil || info.Mode() != os.ModeSocket|0o600 {
		t.Errorf("it is %v, %v", info.Mode(), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.Serve(ctx) }()
	if got := doorOf(t, s, "").ask(t, "GET /pods"); got.status != 200 {
		t.Errorf("it answers %d %s", got.status, got.body)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("after its end it is still there: %v", err)
	}
}

func TestASocketThatIsThere(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }

	writeFile(t, at("file"), "mine", 0o600)
	if err := os.Symlink(at("file"), at("link")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"file", "link"} {
		if _, err := socketServer(t, at(name)); err == nil || err.Error() != "info server: -address: "+at(name)+" exists and is not a socket" {
			t.Errorf("a %s: it says %v", name, err)
		}
	}
	if text, err := os.ReadFile(at("file")); string(text) != "mine" {
		t.Errorf("the file holds %q, %v", text, err)
	}

	living := serve(t, &fakeKubelet{}, func(o *Options) { o.Address, o.Token = unixPrefix+at("living"), "" })
	if _, err := socketServer(t, at("living")); err == nil || !strings.Contains(err.Error(), "another program listens on "+at("living")) {
		t.Errorf("one that lives: it says %v", err)
	}
	if got := doorOf(t, living, "").ask(t, "GET /healthz"); got.status != 200 {
		t.Errorf("the one that lives answers %d", got.status)
	}

	// A kubelet that was killed leaves its socket behind.
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: at("stale"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	stale.SetUnlinkOnClose(false)
	stale.Close()
	s := serve(t, &fakeKubelet{}, func(o *Options) { o.Address, o.Token = unixPrefix+at("stale"), "" })
	if got := doorOf(t, s, "").ask(t, "GET /healthz"); got.status != 200 {
		t.Errorf("in the place of an old one it answers %d", got.status)
	}

	if _, err := socketServer(t, at("no/directory")); err == nil || !strings.Contains(err.Error(), "listen on "+at("no/directory")) {
		t.Errorf("where it cannot be made: it says %v", err)
	}

	// Another kind of socket does not take connections as ours would, and is not ours.
	other, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: at("other"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := socketServer(t, at("other")); err == nil || !strings.Contains(err.Error(), "find out whether another program listens on "+at("other")) {
		t.Errorf("another kind of socket: it says %v", err)
	}
}
