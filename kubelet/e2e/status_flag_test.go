package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// awaitStatus waits until -status exits with a code and prints some words.
func (h *host) awaitStatus(exit int, words []string, flags ...string) {
	h.t.Helper()
	h.await(fmt.Sprintf("-status exits with %d and prints %q", exit, words), func() error {
		r := h.run(append([]string{"-status"}, flags...)...)
		if err := hasWords(r.stdout+r.stderr, words); r.exit != exit || err != nil {
			return fmt.Errorf("exit %d, %v\n%s%s", r.exit, err, r.stdout, r.stderr)
		}
		return nil
	})
}

func TestIntegrationStatus(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.run("-status").mustExit(t, 1, "unix:"+h.socket, "no kubelet answers")
	h.writeSleepers("good")
	p := h.start()
	p.awaitUp("good")
	h.awaitStatus(0, []string{"good.default.file", "running", "main"})
	h.write("bad", job("bad", `/hello, exit, "3"`))
	h.awaitStatus(1, []string{"bad.default.file", "failed", "terminated", "Error (exit code 3)", "1 of 2 pods"})
	h.remove("bad")
	h.write("typo", strings.Replace(sleeper("typo"), "image", "imgae", 1))
	h.awaitStatus(1, []string{"good.default.file", "running", "failing since", "typo.yaml:4:18: containers[0].imgae"})
	h.remove("typo")
	h.awaitStatus(0, []string{"good.default.file", "running"})
	p.kill()
	h.run("-status").mustExit(t, 1, "unix:"+h.socket, "no kubelet answers")
}

// With TLS the token is needed even to look; -status finds it in the root_dir.
func TestIntegrationStatusOverTLS(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	flags := func(cert, key string) []string {
		return []string{"-tls_cert_file=" + cert, "-tls_private_key_file=" + key}
	}
	served := append(flags(makeCertificate(t)), "-address=0.0.0.0", fmt.Sprint("-port=", freePort(t)))
	h.writeSleepers("pod")
	p := h.start(served...)
	p.awaitUp("pod")
	h.awaitStatus(0, []string{"pod.default.file", "running"}, served...)
	h.awaitStatus(1, []string{"certificate"}, append(served, flags(makeCertificate(t))...)...)

	token := filepath.Join(h.rootDir, "token")
	if info, err := os.Stat(token); err != nil || info.Mode() != 0o600 {
		t.Errorf("the token is %v, %v", info, err)
	}
	h.must(os.Rename(token, token+".away"))
	h.awaitStatus(1, []string{token}, served...)
	h.must(os.WriteFile(token, []byte("this-is-another-token\n"), 0o600))
	h.awaitStatus(1, []string{"token is wrong", token}, served...)
}

// makeCertificate makes a certificate that signs itself.
func makeCertificate(t testing.TB) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"pods.example.com"}, NotAfter: time.Now().Add(time.Hour)}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	keyBytes, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: cert}, "key.pem": {Type: "PRIVATE KEY", Bytes: keyBytes}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
}
