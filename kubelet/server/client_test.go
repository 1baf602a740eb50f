package server

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// signed makes a certificate that an authority has signed, and its key.
func signed(t *testing.T, authorityFile, authorityKeyFile string) tls.Certificate {
	t.Helper()
	authority, err := tls.LoadX509KeyPair(authorityFile, authorityKeyFile)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(15), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	certificate, err := x509.CreateCertificate(rand.Reader, template, authority.Leaf, &key.PublicKey, authority.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{certificate}, PrivateKey: key}
}

// A file of a certificate holds those behind it that signed it. Who has another one of
// the same authority, and that may be anybody, must not get the token.
func TestTheTokenIsForTheHolderOfTheCertificateAlone(t *testing.T) {
	authority, authorityKey := makeCertificate(t, "authority.example")
	ours, stranger := signed(t, authority, authorityKey), signed(t, authority, authorityKey)
	behind, err := os.ReadFile(authority)
	if err != nil {
		t.Fatal(err)
	}
	certFile, tokenFile := filepath.Join(t.TempDir(), "chain.pem"), filepath.Join(t.TempDir(), "token")
	writeFile(t, certFile, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ours.Certificate[0]}))+string(behind), 0o644)
	writeFile(t, tokenFile, testToken, 0o600)

	for name, tt := range map[string]struct {
		shows tls.Certificate
		gets  bool
	}{
		"ours": {ours, true}, "a stranger of the same authority": {stranger, false},
		"a stranger who shows ours and has not its key": {tls.Certificate{Certificate: ours.Certificate, PrivateKey: stranger.PrivateKey}, false},
	} {
		var shown string
		listener := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			shown = r.Header.Get("Authorization")
			io.WriteString(w, "POD CONTAINER\n")
		}))
		listener.TLS = &tls.Config{Certificates: []tls.Certificate{tt.shows}}
		listener.Config.ErrorLog = log.New(io.Discard, "", 0)
		listener.StartTLS()
		client, err := NewClient("127.0.0.1", listener.Listener.Addr().(*net.TCPAddr).Port, certFile, tokenFile)
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.Status(t.Context())
		client.Close()
		listener.Close()
		if got := shown == "Bearer "+testToken; got != tt.gets || (err == nil) != tt.gets {
			t.Errorf("%s: the token is shown: %v; %v", name, got, err)
		}
	}
}

// A renewed one is in the file before the kubelet has read it.
func TestWhoRenewsTheCertificateIsToldWhatToDo(t *testing.T) {
	certFile, keyFile := makeCertificate(t, "node.example")
	options, err := LoadTLS(certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	tokenFile := filepath.Join(t.TempDir(), "token")
	writeFile(t, tokenFile, testToken, 0o600)
	s := serve(t, &fakeKubelet{}, func(o *Options) { o.TLS = options })
	renewed, _ := makeCertificate(t, "node.example")
	client, err := NewClient("127.0.0.1", s.listener.Addr().(*net.TCPAddr).Port, renewed, tokenFile)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	const want = "; after a renewal restart the kubelet, which reads it at its start"
	if _, err := client.Status(t.Context()); err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("it says %v", err)
	}
}

func TestAKubeletThatHangsIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, err := NewClient("127.0.0.1", 10250, "", "")
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		client.transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			go io.Copy(io.Discard, theirs)
			return ours, nil
		}
		const want = "ask the kubelet at http://127.0.0.1:10250: no answer within 30s"
		if _, err := client.Status(t.Context()); err == nil || err.Error() != want {
			t.Errorf("it says %v, want %s", err, want)
		}
	})
}
