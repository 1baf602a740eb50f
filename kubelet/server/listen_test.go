package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"kubelet14/api/unittest"
	"kubelet14/kubelet/token"
)

func makeCertificate(t testing.TB, names ...string) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	unittest.Must(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(14), DNSNames: names, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	private, keyErr := x509.MarshalPKCS8PrivateKey(key)
	unittest.Must(t, err, keyErr)
	dir := t.TempDir()
	write := func(name, kind string, der []byte) string {
		return writeFile(t, filepath.Join(dir, name), string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})), 0o600)
	}
	return write("cert.pem", "CERTIFICATE", certificate), write("key.pem", "PRIVATE KEY", private)
}

func TestCheckAddress(t *testing.T) {
	for _, tt := range []struct {
		address string
		port    int
		tls     bool
		want    string // the error; empty: none
	}{
		{"127.0.0.1", 10250, false, ""},
		{"::1", 65535, false, ""},
		{"0.0.0.0", 10250, true, ""},
		{"unix:/run/kubelet14.sock", 10250, false, ""},
		{"0.0.0.0", 10250, false, "-address=0.0.0.0 can be reached from other hosts, and the token could be read on the way: give -tls"},
		{"::ffff:10.0.0.5", 10250, false, "can be reached"},
		{"localhost", 10250, false, "-address=localhost is not an IP address: give one, such as 127.0.0.1"},
		{"127.0.0.1", -1, false, "-port=-1 is not a port: give one from 1 to 65535, or 0 for a free one"},
		{"127.0.0.1", 65536, false, "-port=65536 is not a port"},
		{"unix:", 10250, false, "-address=unix:: a socket needs an absolute path, such as unix:/run/kubelet14.sock"},
		{"unix:@kubelet14", 10250, false, "an absolute path"}, // no file, and so open to all
		{"unix:/run/kubelet14.sock", 10250, true, "-tls_cert_file and a unix socket cannot be combined"},
	} {
		err := CheckAddress(tt.address, tt.port, tt.tls)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s, port %d, TLS %v: %v", tt.address, tt.port, tt.tls, err)
		}
	}
	if _, err := New(testOptions(&fakeKubelet{}, func(o *Options) { o.Address = "0.0.0.0" })); err == nil {
		t.Error("New makes a server for other hosts without TLS")
	}
}

func TestAddressesThatCannotBeUsed(t *testing.T) {
	at := serve(t, &fakeKubelet{}).listener.Addr().(*net.TCPAddr)
	_, err := New(testOptions(&fakeKubelet{}, func(o *Options) { o.Port = at.Port }))
	want := at.String() + " is taken, maybe by another kubelet: give another -address or -port, or -enable_server=false"
	if err == nil || err.Error() != "info server: "+want {
		t.Errorf("it returns %v, want %s", err, want)
	}
	_, err = New(testOptions(&fakeKubelet{}, withTLS(t), func(o *Options) { o.Address = "192.0.2.1" })) // RFC 5737: no host has it
	if want := "info server: this host has no address 192.0.2.1: give another -address"; err == nil || err.Error() != want {
		t.Errorf("it returns %v, want %s", err, want)
	}
}

func TestLoadTLSNamesWhatIsWrong(t *testing.T) {
	cert, _ := makeCertificate(t, "a.example")
	_, key := makeCertificate(t, "b.example")
	want := fmt.Sprintf("read -tls_cert_file=%s and -tls_private_key_file=%s: tls: private key does not match public key", cert, key)
	if _, err := LoadTLS(cert, key); err == nil || err.Error() != want {
		t.Errorf("it returns %v, want %s", err, want)
	}
}

func TestASocketIsForItsOwnerAlone(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0)) // whatever it is
	var path string
	t.Run("while it is there", func(t *testing.T) {
		s := serve(t, &fakeKubelet{}, onSocket(t))
		path = strings.TrimPrefix(s.URL(), unixPrefix)
		if info, err := os.Lstat(path); err != nil || info.Mode() != os.ModeSocket|0o600 || s.Link() != "" {
			t.Errorf("the socket is %v, %v; the link is %q", info.Mode(), err, s.Link())
		}
	})
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("after its end it is still there: %v", err)
	}
}

func TestAFileAtTheAddressOfASocket(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	socket := func(name string) func(*Options) { return func(o *Options) { o.Address = unixPrefix + at(name) } }
	writeFile(t, at("file"), "mine", 0o600)
	other, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: at("other kind"), Net: "unixgram"})
	unittest.Must(t, err)
	defer other.Close()
	used := serve(t, &fakeKubelet{}, socket("used"))
	for name, want := range map[string]string{
		"file": "is taken", "other kind": "is taken", "used": "another program listens on " + at("used"), "no/directory": at("no/directory"),
	} {
		if _, err := New(testOptions(&fakeKubelet{}, socket(name))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: it returns %v", name, err)
		}
	}
	if text, err := os.ReadFile(at("file")); string(text) != "mine" {
		t.Errorf("the file holds %q, %v", text, err)
	}
	// A kubelet that was killed leaves its socket behind.
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: at("stale"), Net: "unix"})
	unittest.Must(t, err)
	stale.SetUnlinkOnClose(false)
	stale.Close()
	for _, s := range []*testServer{used, serve(t, &fakeKubelet{}, socket("stale"))} {
		if got := s.ask(t, "GET /healthz"); got.status != 200 {
			t.Errorf("%s: it answers %d", s.URL(), got.status)
		}
	}
}

func TestATokenIsMadeOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	made, err := token.Make(path)
	unittest.Must(t, err)
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o600 || len(made) < 32 || !token.Form.MatchString(made) {
		t.Errorf("%q was made in a file of mode %v, %v", made, info.Mode(), err)
	}
	if again, err := token.Make(path); err != nil || again != made {
		t.Errorf("the second token.Make returns %q, %v; want %q", again, err, made)
	}
	// The token is written to another file, which is then renamed: a kubelet that is killed meanwhile leaves no half of
	// a token.
	path = filepath.Join(t.TempDir(), "token")
	err = os.Mkdir(path+".new", 0o700)
	got, makeErr := token.Make(path)
	if _, statErr := os.Lstat(path); err != nil || got != "" || !strings.Contains(fmt.Sprint(makeErr), "make a token: ") || !os.IsNotExist(statErr) {
		t.Errorf("when the other file cannot be written, token.Make returns %q, %v; the file: %v", got, makeErr, statErr)
	}
}

func TestTokenFiles(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	const good = "0123456789abcdef"
	unittest.Must(t, syscall.Mkfifo(at("pipe"), 0o600))
	for name, file := range map[string]struct {
		text string
		mode os.FileMode
		want string // the error; empty: none
	}{
		"good":          {"\n  " + good + " \r\n", 0o600, ""},
		"base64":        {"abcDEF0123-._~+/==\n", 0o600, ""},
		"short":         {good[1:], 0o600, "must hold one word of 16 characters"},
		"two words":     {good + " " + good, 0o600, "must hold one word"},
		"not ASCII":     {good + "é", 0o600, "of letters, digits and -._~+/="},
		"for its group": {good, 0o640, "other users have access to " + at("for its group") + ": chmod 600 " + at("for its group")},
		"pipe":          {"", 0, "is not a regular file"},
	} {
		if file.mode != 0 {
			writeFile(t, at(name), file.text, file.mode)
		}
		got, err := token.Make(at(name)) // reads it first
		want := strings.TrimSpace(file.text)
		if file.want != "" {
			want = ""
		}
		text := fmt.Sprint(err)
		isFine := err == nil && file.want == "" || err != nil && file.want != "" && strings.Contains(text, file.want) && strings.Contains(text, at(name))
		if !isFine || got != want || strings.Contains(text, good[1:]) { // the token
			t.Errorf("%s: token.Read returns %q, %v", name, got, err)
		}
	}
}
