package config

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

func etcdFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "etcd.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestEtcdConfigOfServers(t *testing.T) {
	logged := captureLog(t)
	servers := []string{"http://127.0.0.1:2379", "localhost:2379", "https://[::1]:2379/", "http://etcd.example.com:2379"}
	config, err := EtcdConfig(servers, "")
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(config.Endpoints) != fmt.Sprint(servers) || config.TLS != nil || config.Logger == nil {
		t.Errorf("got %+v", config)
	}
	if config.DialTimeout <= 0 || config.DialKeepAliveTime <= 0 || config.DialKeepAliveTimeout <= 0 {
		t.Errorf("it waits for ever for a server that is gone: %+v", config)
	}
	if text := logged(); strings.Count(text, "without TLS") != 1 || !strings.Contains(text, "http://etcd.example.com:2379") {
		t.Errorf("log:\n%s", text)
	}
}

// Every field that the client has in its own format.
func TestEtcdConfigOfAFile(t *testing.T) {
	cert, key := writeCertificate(t)
	config, err := EtcdConfig(nil, etcdFile(t, fmt.Sprintf(`
endpoints: ["https://etcd-1:2379", etcd-2:2379]
auto-sync-interval: 1
dial-timeout: 2
dial-keep-alive-time: 3
dial-keep-alive-timeout: 4
username: me
password: s3cret
token: token
reject-old-cluster: true
permit-without-stream: true
max-unary-retries: 5
backoff-wait-between: 6
backoff-jitter-fraction: 0.5
insecure-transport: false
insecure-skip-tls-verify: true
cert-file: %s
key-file: %s
trusted-ca-file: %[1]s
`, cert, key)))
	if err != nil {
		t.Fatal(err)
	}
	if config.TLS == nil || len(config.TLS.Certificates) != 1 || config.TLS.RootCAs == nil || !config.TLS.InsecureSkipVerify {
		t.Errorf("TLS is %+v", config.TLS)
	}
	config.TLS, config.Logger = nil, nil
	want := clientv3.Config{
		Endpoints: []string{"https://etcd-1:2379", "etcd-2:2379"}, AutoSyncInterval: 1, DialTimeout: 2, DialKeepAliveTime: 3, DialKeepAliveTimeout: 4,
		Username: "me", Password: "s3cret", Token: "token", RejectOldCluster: true, PermitWithoutStream: true,
		MaxUnaryRetries: 5, BackoffWaitBetween: 6, BackoffJitterFraction: 0.5,
	}
	if fmt.Sprintf("%+v", config) != fmt.Sprintf("%+v", want) {
		t.Errorf("got  %+v\nwant %+v", config, want)
	}
	config, err = EtcdConfig(nil, etcdFile(t, "endpoints: [127.0.0.1:2379]\ninsecure-transport: true"))
	if err != nil || config.TLS != nil {
		t.Errorf("without TLS: %v, %+v", err, config)
	}
}

// writeCertificate gives the paths of a certificate, which is its own authority, and
// of its key.
func writeCertificate(t *testing.T) (cert, key string) {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	server.StartTLS()
	defer server.Close()
	pair := server.TLS.Certificates[0]
	private, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	for file, block := range map[string]*pem.Block{
		cert: {Type: "CERTIFICATE", Bytes: pair.Certificate[0]},
		key:  {Type: "PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

func TestEtcdBadConfigIsRefused(t *testing.T) {
	const server = "endpoints: [https://etcd:2379]\n"
	for what, test := range map[string]struct{ text, word string }{
		"no YAML":                 {"endpoints: [", "etcd.yaml"},
		"not a mapping":           {"hello", "etcd.yaml"},
		"an unknown field":        {server + "usernam: me", `etcd.yaml: unknown field "usernam": the fields are`},
		"a field of another type": {server + "dial-timeout: soon", "dial-timeout"},
		"no servers":              {"username: me", `names no servers: write endpoints: ["https://HOST:2379"]`},
		"nothing":                 {"", "etcd.yaml names no servers"},
		"no such authority":       {server + "trusted-ca-file: /no/such/ca.pem", "/no/such/ca.pem: no such file"},
		"no such certificate":     {server + "cert-file: /no/such/cert.pem\nkey-file: /no/such/key.pem", "/no/such/cert.pem: no such file"},
		"a certificate alone":     {server + "cert-file: cert.pem", "cert-file and key-file need each other"},
		"a key alone":             {server + "key-file: key.pem", "cert-file and key-file need each other"},
		"a field it leaves out":   {server + "ca-file: ca.pem", `unknown field "ca-file"`},
		"no such address":         {"endpoints: [etcd]", `"etcd" is no address of an etcd server`},
	} {
		if _, err := EtcdConfig(nil, etcdFile(t, test.text)); err == nil || !strings.Contains(err.Error(), test.word) {
			t.Errorf("%s: no %q in the error: %v", what, test.word, err)
		}
	}
	if _, err := EtcdConfig(nil, "/no/such/file"); err == nil || !strings.Contains(err.Error(), "/no/such/file: no such file") {
		t.Errorf("no such file: got %v", err)
	}
}

func TestEtcdBadAddressIsRefused(t *testing.T) {
	for _, address := range []string{
		"etcd", "http://etcd", "http://:2379", "http://", "ftp://etcd:2379", "unix:///run/etcd", "etcd:http",
		"http://etcd:2379/v2/keys", "http://etcd:2379,http://etcd-2:2379", "http://me:s3cret@etcd:2379", "me:s3cret@etcd:2379",
	} {
		_, err := EtcdConfig([]string{"http://127.0.0.1:2379", address}, "")
		switch {
		case err == nil:
			t.Errorf("%q is taken", address)
		case !strings.Contains(err.Error(), "is no address of an etcd server: give one such as https://"):
			t.Errorf("%q: the error does not say what to do: %v", address, err)
		case strings.Contains(err.Error(), "s3cret"):
			t.Errorf("%q: the error tells the password: %v", address, err)
		}
	}
}

// tlsServer is one that speaks TLS and then waits for its client to say more.
func tlsServer(t *testing.T, auth tls.ClientAuthType) (address string, config *tls.Config) {
	t.Helper()
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.TLS = &tls.Config{ClientAuth: auth}
	server.StartTLS()
	t.Cleanup(server.Close)
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	return server.Listener.Addr().String(), &tls.Config{RootCAs: pool, Certificates: server.TLS.Certificates}
}

func TestTryEndpointsSaysWhyNoServerAnswers(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	refused := gone.Listener.Addr().String()
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	http1 := plain.Listener.Addr().String()
	open, known := tlsServer(t, tls.NoClientCert)
	strict, member := tlsServer(t, tls.RequireAnyClientCert)
	stranger := &tls.Config{RootCAs: x509.NewCertPool()}
	nobody := &tls.Config{RootCAs: member.RootCAs}

	for what, test := range map[string]struct {
		endpoints []string
		config    *tls.Config
		words     []string // of the error; none: a server can be reached
	}{
		"nobody listens":               {[]string{"http://" + refused}, nil, []string{refused, "connection refused"}},
		"nobody listens for TLS":       {[]string{"https://" + refused}, known, []string{refused, "connection refused"}},
		"no server of three":           {[]string{"http://" + refused, refused, "http://no.such.host.invalid:1"}, nil, []string{refused, "connection refused", "no.such.host.invalid"}},
		"one server of three":          {[]string{"http://" + refused, http1, "https://" + refused}, nil, nil},
		"TLS to a plain server":        {[]string{"https://" + http1}, known, []string{"https://" + http1, "does not look like a TLS handshake"}},
		"plain text to a TLS server":   {[]string{"http://" + open}, known, nil}, // only the list that is not answered shows it
		"TLS":                          {[]string{"https://" + open}, known, nil},
		"TLS, without a scheme":        {[]string{open}, known, nil},
		"an authority nobody knows":    {[]string{open}, stranger, []string{open, "certificate signed by unknown authority"}},
		"the system's authorities":     {[]string{"https://" + open}, nil, []string{open, "certificate signed by unknown authority"}},
		"a client without certificate": {[]string{strict}, nobody, []string{strict, "certificate required"}},
		"a client with one":            {[]string{strict}, member, nil},
		"no address":                   {[]string{"ftp://etcd"}, nil, []string{"ftp://etcd"}},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			err := tryEndpoints(t.Context(), clientv3.Config{Endpoints: test.endpoints, TLS: test.config})
			if (err == nil) != (len(test.words) == 0) {
				t.Errorf("got %v", err)
			}
			for _, word := range test.words {
				if err == nil || !strings.Contains(err.Error(), word) {
					t.Errorf("no %q in the error: %v", word, err)
				}
			}
		})
	}
}

// The same trouble must not be logged and sent every second.
func TestTryEndpointsSaysTheSameEachTime(t *testing.T) {
	resets := httptest.NewUnstartedServer(nil)
	resets.Config.ConnState = func(conn net.Conn, state http.ConnState) {
		if state == http.StateNew {
			conn.Read(make([]byte, 1))
			conn.(*net.TCPConn).SetLinger(0)
			conn.Close()
		}
	}
	resets.Start()
	t.Cleanup(resets.Close)
	address, expired := tlsServer(t, tls.NoClientCert)
	now := time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
	expired.Time = func() time.Time { now = now.Add(time.Second); return now }
	for _, test := range []struct {
		config clientv3.Config
		word   string
	}{
		{clientv3.Config{Endpoints: []string{"https://" + resets.Listener.Addr().String()}}, "connection reset"},
		{clientv3.Config{Endpoints: []string{address}, TLS: expired}, "expired"},
	} {
		first, second := tryEndpoints(t.Context(), test.config), tryEndpoints(t.Context(), test.config)
		if !sameText(first, second) || !strings.Contains(fmt.Sprint(first), test.word) {
			t.Errorf("first it was\n%v\nthen\n%v", first, second)
		}
	}
}

// With a user the client needs a token first, and waits for it in another place.
func TestEtcdThatIsGoneIsNamedWithAndWithoutAUser(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	for _, user := range []string{"", "me"} {
		config, err := EtcdConfig([]string{gone.URL}, "")
		if err != nil {
			t.Fatal(err)
		}
		config.Username, config.Password, config.DialTimeout = user, user, 20*time.Millisecond
		s := NewSourceEtcd(config, testParser())
		client, err := s.connect(t.Context())
		if err == nil {
			ctx, cancel := context.WithTimeout(t.Context(), config.DialTimeout)
			_, err = client.Get(ctx, s.keys.root)
			cancel()
			client.Close()
		}
		if err = s.explain(t.Context(), err); !strings.Contains(err.Error(), gone.Listener.Addr().String()+": connect: connection refused") {
			t.Errorf("user %q: got %v", user, err)
		}
	}
}

// A client with a user waits for its token, and must not keep the program from ending.
func TestConnectEtcdEndsWithItsContext(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	config := clientv3.Config{Endpoints: []string{listener.Addr().String()}, Username: "me", Password: "s3cret", Logger: zap.NewNop()}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := connectEtcd(ctx, config)
		ended <- err
	}()
	if conn, err := listener.Accept(); err == nil {
		defer conn.Close() // it is asked, and does not answer
	}
	cancel()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("it has connected")
		}
	case <-time.After(20 * time.Second):
		t.Error("it goes on")
	}
}
