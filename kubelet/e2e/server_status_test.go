package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// status runs the program's own look at a kubelet that serves with the same flags, and
// reads the table it prints.
func (h *host) status(flags ...string) (result, statusTable) {
	h.t.Helper()
	r := h.run(append([]string{"-status", "-enable_server"}, flags...)...)
	table, err := parseStatus(r.stdout)
	if err != nil && r.exit == 0 {
		h.t.Error(err)
	}
	return r, table
}

// shortDir is for a socket: its path may have 107 bytes.
func shortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "k14-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func TestIntegrationStatusOverASocket(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	address := "-address=unix:" + filepath.Join(shortDir(t), "socket")
	if r, _ := h.status(address); r.exit != 1 || !strings.Contains(r.stderr, "no kubelet answers at unix:") {
		t.Errorf("with no kubelet: exit %d\n%s", r.exit, r.stderr)
	}
	h.write("good.yaml", sleeper("good"))
	h.start("-enable_server", address)
	h.eventually("the pod is up", func() error {
		r, table := h.status(address)
		if err := table.shows("good/main", "running", "-"); err != nil || r.exit == 0 {
			return err
		}
		t.Errorf("all is up, and -status exits with %d\n%s", r.exit, r.stderr)
		return nil
	})

	h.write("bad.yaml", job("bad", `/hello, exit, "3"`))
	h.eventually("a pod that has failed is told of", func() error {
		_, table := h.status(address)
		return table.shows("bad/main", "terminated", "Error")
	})
	if r, _ := h.status(address); r.exit != 1 || !strings.Contains(r.stderr, "1 of 2 pods are not up") {
		t.Errorf("with a pod that has failed: exit %d, want 1\n%s", r.exit, r.stderr)
	}

	h.remove("bad.yaml")
	h.write("typo.yaml", strings.Replace(sleeper("typo"), "image", "imgae", 1))
	h.eventually("a source that fails is told of", func() error {
		_, table := h.status(address)
		return table.sourceSays("failing since", "typo.yaml", "imgae")
	})
	h.eventually("the failed pod has gone", func() error { return h.gone("bad") })
	if r, _ := h.status(address); r.exit != 1 || !strings.Contains(r.stderr, "cannot read source file") {
		t.Errorf("with a file that cannot be read: exit %d, want 1\n%s", r.exit, r.stderr)
	}
}

// With TLS even to look needs the token, which is found in the root_dir.
func TestIntegrationStatusOverTLS(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	cert, key := makeCertificate(t, "pods.example.com")
	h.write("pod.yaml", sleeper("pod"))
	p := h.start("-enable_server", "-address=0.0.0.0", "-port=0", "-tls_cert_file="+cert, "-tls_private_key_file="+key)
	p.says("info server at https://")
	port := regexp.MustCompile(`info server at https://\S+:(\d+)/`).FindStringSubmatch(p.log.String())[1]
	flags := []string{"-address=0.0.0.0", "-port=" + port, "-tls_cert_file=" + cert, "-tls_private_key_file=" + key}
	h.eventually("the pod is up", func() error {
		_, table := h.status(flags...)
		return table.shows("pod/main", "running", "-")
	})

	other, otherKey := makeCertificate(t, "pods.example.com")
	if r, _ := h.status(append(flags, "-tls_cert_file="+other, "-tls_private_key_file="+otherKey)...); r.exit != 1 || !strings.Contains(r.stderr, "certificate") {
		t.Errorf("a server with another certificate is believed: exit %d\n%s", r.exit, r.stderr)
	}
	token := filepath.Join(h.rootDir, "token")
	if info, err := os.Stat(token); err != nil || info.Mode() != 0o600 {
		t.Errorf("the token is %v, %v", info, err)
	}
	if err := os.Rename(token, token+".away"); err != nil {
		t.Fatal(err)
	}
	if r, _ := h.status(flags...); r.exit != 1 || !strings.Contains(r.stderr, token) {
		t.Errorf("without the token: exit %d\n%s", r.exit, r.stderr)
	}
	if err := os.WriteFile(token, []byte("this-is-another-token\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r, _ := h.status(flags...); r.exit != 1 || !strings.Contains(r.stderr, "the token is another one") || !strings.Contains(r.stderr, token) {
		t.Errorf("with another token: exit %d\n%s", r.exit, r.stderr)
	}
}

func TestIntegrationAPortThatIsTaken(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	address := listener.Addr().String()
	_, port, _ := net.SplitHostPort(address)
	h.write("pod.yaml", sleeper("pod"))
	if exit, said := h.refused("-enable_server", "-port="+port); exit != 1 || !strings.Contains(said, address+" is taken") || !strings.Contains(said, "-port") {
		t.Errorf("exit %d, want 1 and what to do:\n%s", exit, said)
	}
	if left := h.containers(); len(left) > 0 {
		t.Errorf("it has made %v", left)
	}
}

// makeCertificate makes a certificate that signs itself.
func makeCertificate(t testing.TB, name string) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{name}, NotAfter: time.Now().Add(time.Hour)}
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
