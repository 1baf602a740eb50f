package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
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
	} {
		var shown string
		listener := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			shown = r.Header.Get("Authorization")
			io.WriteString(w, `{"items":[]}`)
		}))
		listener.TLS = &tls.Config{Certificates: []tls.Certificate{tt.shows}}
		listener.Config.ErrorLog = httpLog()
		listener.StartTLS()
		client, err := NewClient("127.0.0.1", listener.Listener.Addr().(*net.TCPAddr).Port, certFile, tokenFile)
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.Pods(t.Context())
		client.Close()
		listener.Close()
		if got := shown == "Bearer "+testToken; got != tt.gets || (err == nil) != tt.gets {
			t.Errorf("%s: the token is shown: %v; %v", name, got, err)
		}
	}
}
