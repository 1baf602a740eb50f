package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
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
		{"0.0.0.0", 10250, true, ""},
		{"10.0.0.5", 10250, true, ""},
		{"unix:/run/kubelet14.sock", 10250, false, ""},
		{"unix:" + long[:maxUnixPath], 10250, false, ""},
		{"0.0.0.0", 10250, false, "-address=0.0.0.0 can be reached from other hosts, and the token could be read on the way: give -tls_cert_file and -tls_private_key_file, or a loopback address"},
		{"::", 10250, false, "-address=:: can be reached"},
		{"::ffff:10.0.0.5", 10250, false, "can be reached"},
		{"localhost", 10250, false, "-address=localhost is not an IP address: give one, such as 127.0.0.1"},
		{"", 10250, true, "-address= is not an IP address"},
		{"127.0.0.1:80", 10250, false, "is not an IP address"},
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

func TestATokenIsMadeOnce(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "token")
	made, err := MakeToken(path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o600 || len(made) < 32 || !tokenForm.MatchString(made) {
		t.Errorf("%q was made in a file of mode %v, %v", made, info.Mode(), err)
	}
	for name, read := range map[string]func(string) (string, error){"made again": MakeToken, "read": ReadToken} {
		if again, err := read(path); err != nil || again != made {
			t.Errorf("%s: it is %q, %v; want %q", name, again, err, made)
		}
	}
	other, err := MakeToken(filepath.Join(t.TempDir(), "token"))
	if err != nil || other == made {
		t.Errorf("two kubelets have the tokens %q and %q, %v", made, other, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("there are %v beside it, %v", entries, err)
	}
}

// A kubelet that is killed while it makes its token leaves no half of one.
func TestATokenIsNeverThereInPart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	var made atomic.Bool
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for !made.Load() {
				if _, err := ReadToken(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("it was seen in part: %v", err)
					return
				}
			}
		})
	}
	for range 50 {
		if _, err := MakeToken(path); err != nil {
			t.Error(err)
		}
		os.Remove(path)
	}
	made.Store(true)
	readers.Wait()
}

func TestTokenFiles(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	const good = "0123456789abcdef"
	for name, file := range map[string]struct {
		text string
		mode os.FileMode
		want string // the error; empty: none
	}{
		"good":            {good + "\n", 0o600, ""},
		"read only":       {good, 0o400, ""},
		"base64":          {"abcDEF0123-._~+/==\n", 0o600, ""},
		"spaces around":   {"\n  " + good + " \r\n", 0o600, ""},
		"empty":           {"", 0o600, "must hold one word of 16 characters"},
		"short":           {good[1:], 0o600, "must hold one word of 16 characters"},
		"two words":       {good + " " + good, 0o600, "must hold one word"},
		"two lines":       {good + "\n" + good, 0o600, "must hold one word"},
		"no header":       {good + "\x00", 0o600, "of letters, digits and -._~+/="},
		"not ASCII":       {good + "é", 0o600, "of letters, digits and -._~+/="},
		"endless":         {strings.Repeat(good, 1000), 0o600, "must hold one word"},
		"for its group":   {good, 0o640, "other users have access to " + at("for its group") + ": chmod 600 " + at("for its group")},
		"for the world":   {good, 0o604, "chmod 600"},
		"group may write": {good, 0o620, "chmod 600"},
		"pipe":            {"", 0, at("pipe") + " is not a regular file"},
		"directory":       {"", 0, at("directory") + " is not a regular file"},
	} {
		switch {
		case name == "pipe":
			if err := syscall.Mkfifo(at(name), 0o600); err != nil {
				t.Fatal(err)
			}
		case name == "directory":
			if err := os.Mkdir(at(name), 0o700); err != nil {
				t.Fatal(err)
			}
		default:
			writeFile(t, at(name), file.text, file.mode)
		}
		for what, read := range map[string]func(string) (string, error){"read": ReadToken, "make": MakeToken} {
			got, err := read(at(name))
			isRight := err == nil && got == strings.TrimSpace(file.text)
			if file.want != "" {
				isRight = err != nil && got == "" && strings.Contains(err.Error(), file.want) && strings.Contains(err.Error(), at(name)) &&
					!strings.Contains(err.Error(), good[1:]) // the token
			}
			if !isRight {
				t.Errorf("%s, %s: it is %q, %v", name, what, got, err)
			}
		}
	}
	if got, err := MakeToken(at("no/token")); err == nil || !strings.Contains(err.Error(), "make a token: ") {
		t.Errorf("without a directory: it is %q, %v", got, err)
	}
}

func TestTheLinkSetsTheCookieAndLeadsToThePage(t *testing.T) {
	for name, s := range map[string]*testServer{"without TLS": serve(t, &fakeKubelet{}), "with TLS": serve(t, &fakeKubelet{}, withTLS(t))} {
		if want := s.URL() + "?token=" + testToken; s.Link() != want {
			t.Errorf("%s: the link is %s, want %s", name, s.Link(), want)
		}
		got := s.ask(t, "GET /?token="+testToken)
		cookies := (&http.Response{Header: got.header}).Cookies()
		if got.status != http.StatusSeeOther || got.header.Get("Location") != "/" || len(cookies) != 1 {
			t.Fatalf("%s: it answers %d, to %q, with %v", name, got.status, got.header.Get("Location"), cookies)
		}
		c := cookies[0]
		if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Secure != (name == "with TLS") || c.Path != "/" || c.Domain != "" || c.MaxAge != 0 ||
			strings.Contains(c.String(), testToken) {
			t.Errorf("%s: its cookie is %v", name, c)
		}
		if got := s.ask(t, "GET /containerLogs/default/web/c", with("Cookie", c.Name+"="+c.Value)); got.status != http.StatusNotFound {
			t.Errorf("%s: with the cookie: it answers %d %s", name, got.status, got.body)
		}
	}
	for name, s := range map[string]*testServer{"over TCP": serve(t, &fakeKubelet{}), "on a socket": serve(t, &fakeKubelet{}, onSocket(t))} {
		wrong := []string{"another-token-1234", testToken + "0", testToken[1:], "%00", token(testToken).cookie()}
		for _, given := range wrong {
			got := s.ask(t, "GET /?token="+given)
			if got.status != http.StatusForbidden || got.header.Get("Set-Cookie") != "" || !got.isOneLine("the token of this link is wrong: the right one is in /root-dir/token") {
				t.Errorf("%s, %s: it answers %d %s, with the cookie %q", name, given, got.status, got.body, got.header.Get("Set-Cookie"))
			}
		}
		s.counts(t, "token", len(wrong))
	}
}
