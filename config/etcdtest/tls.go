package etcdtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"kubelet14/api/unittest"
)

// TLS has the paths of files that clients of a server with TLS need.
type TLS struct {
	CA        string // has signed the server's certificate
	Cert, Key string // of a client, signed by CA
	OtherCA   string // has signed nothing, at first

	tb      testing.TB
	dir     string
	life    time.Duration // of the next certificate
	ca      *certificate
	other   *certificate // of OtherCA
	bothCAs string       // for the test's own clients
	client  *tls.Config  // for them too
}

const lifetime = 24 * time.Hour

// StartTLS is Start for a server that speaks TLS.
func StartTLS(tb testing.TB) *Server {
	tb.Helper()
	s := newServer(tb, "https", "etcd")
	s.members = s.name + "=" + s.peer
	s.TLS = newTLS(tb)
	s.Restart()
	return s
}

func newTLS(tb testing.TB) *TLS {
	tb.Helper()
	t := &TLS{tb: tb, dir: tb.TempDir(), life: lifetime}
	t.CA, t.OtherCA, t.bothCAs = t.file("ca.crt"), t.file("other-ca.crt"), t.file("both-cas.crt")
	t.Cert, t.Key = t.file("client.crt"), t.file("client.key")
	t.ca = t.sign("ca", nil)
	t.other = t.sign("other-ca", nil)
	t.sign("server", t.ca)
	t.sign("client", t.ca)
	cas := slices.Concat(toPEM("CERTIFICATE", t.ca.Raw), toPEM("CERTIFICATE", t.other.Raw))
	unittest.Must(tb, os.WriteFile(t.bothCAs, cas, 0o600))
	client, err := tls.LoadX509KeyPair(t.Cert, t.Key)
	unittest.Must(tb, err)
	t.client = &tls.Config{RootCAs: x509.NewCertPool(), Certificates: []tls.Certificate{client}}
	t.client.RootCAs.AppendCertsFromPEM(cas)
	return t
}

func (t *TLS) file(name string) string { return filepath.Join(t.dir, name) }

// SignWithOtherCA gives the server a certificate that OtherCA has signed. It counts
// from the next connection: etcd reads the file for each.
func (t *TLS) SignWithOtherCA() {
	t.tb.Helper()
	t.sign("server", t.other)
}

// Client makes a certificate with this common name, which is the name of a user, and returns the
// paths of its files.
func (t *TLS) Client(name string) (cert, key string) {
	t.tb.Helper()
	t.sign(name, t.ca)
	return t.file(name + ".crt"), t.file(name + ".key")
}

// Expired is Client for a certificate that has expired.
func (t *TLS) Expired(name string) (cert, key string) {
	t.tb.Helper()
	t.life = -time.Minute
	defer func() { t.life = lifetime }()
	return t.Client(name)
}

// config is for the test's own clients; nil without TLS.
func (t *TLS) config() *tls.Config {
	if t == nil {
		return nil
	}
	return t.client
}

func (s *Server) tlsFlags() []string {
	if s.TLS == nil {
		return nil
	}
	flags := []string{"--cert-file=" + s.TLS.file("server.crt"), "--key-file=" + s.TLS.file("server.key")}
	if s.clientCerts {
		flags = append(flags, "--client-cert-auth", "--trusted-ca-file="+s.TLS.CA)
	}
	return flags
}

// certificate is one with its key.
type certificate struct {
	*x509.Certificate
	key *ecdsa.PrivateKey
}

// sign writes NAME.key and NAME.crt, which is good for servers of this machine and
// for clients. Without a CA it is one itself.
func (t *TLS) sign(name string, ca *certificate) *certificate {
	t.tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	unittest.Must(t.tb, err)
	cert := &x509.Certificate{
		SerialNumber:          big.NewInt(time.Now().UnixNano()),
		Subject:               pkix.Name{CommonName: name},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(t.life),
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		BasicConstraintsValid: true,
		IsCA:                  ca == nil,
	}
	if ca == nil {
		ca = &certificate{cert, key}
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, ca.Certificate, key.Public(), ca.key)
	unittest.Must(t.tb, err)
	cert, err = x509.ParseCertificate(der)
	unittest.Must(t.tb, err)
	keyDER, err := x509.MarshalECPrivateKey(key)
	unittest.Must(t.tb, err)
	unittest.Must(t.tb, os.WriteFile(t.file(name+".crt"), toPEM("CERTIFICATE", der), 0o600))
	unittest.Must(t.tb, os.WriteFile(t.file(name+".key"), toPEM("EC PRIVATE KEY", keyDER), 0o600))
	return &certificate{cert, key}
}

func toPEM(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}
