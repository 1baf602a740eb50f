package config

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/yaml"
	"go.uber.org/zap"
	goyaml "go.yaml.in/yaml/v4"
	"google.golang.org/grpc"
	grpcbackoff "google.golang.org/grpc/backoff"

	"kubelet14/api"
)

// Etcd is the connection of this process to etcd. Its methods may be called by any goroutine.
type Etcd struct {
	config clientv3.Config

	mu     sync.Mutex
	client *clientv3.Client // nil before the first call of Client
}

// OpenEtcd returns the connection to these servers or, if there are none, to those that a file in the etcd client's own
// YAML format names. It checks both, and connects to none yet.
func OpenEtcd(servers []string, file string) (*Etcd, error) {
	config := &clientv3.Config{Endpoints: servers}
	if len(servers) == 0 {
		err := checkEtcdFile(file)
		if err == nil {
			config, err = yaml.NewConfig(file)
		}
		if err == nil && len(config.Endpoints) == 0 {
			err = errors.New(`it names no servers: write endpoints: ["https://HOST:2379"]`)
		}
		if err != nil {
			return nil, fmt.Errorf("read the etcd client's configuration %s: %w", file, err)
		}
	}
	for _, endpoint := range config.Endpoints {
		u, err := endpointURL(endpoint, config.TLS)
		if err != nil {
			return nil, err
		}
		warnOfPlainHTTP(u)
	}
	config.Logger = zap.NewNop()                                   // its errors are returned too
	config.DialTimeout = cmp.Or(config.DialTimeout, 2*time.Minute) // of a login, which may queue behind others
	// Without these it takes a quarter of an hour to notice a host that is cut off.
	config.DialKeepAliveTime = cmp.Or(config.DialKeepAliveTime, 10*time.Second)
	config.DialKeepAliveTimeout = cmp.Or(config.DialKeepAliveTimeout, 30*time.Second)
	config.DialOptions = append(config.DialOptions, grpc.WithConnectParams(grpc.ConnectParams{
		// gRPC's own pauses grow to two minutes, and its jitter is too little for a thousand hosts.
		Backoff: grpcbackoff.Config{BaseDelay: time.Second, Multiplier: 1.6, Jitter: 0.5, MaxDelay: etcdMaxBackoff * 2 / 3}, MinConnectTimeout: 20 * time.Second,
	}))
	return &Etcd{config: *config}, nil
}

// Certificates returns the client certificate, if the configuration has one.
func (e *Etcd) Certificates() []api.Certificate {
	if e.config.TLS == nil || len(e.config.TLS.Certificates) == 0 {
		return nil
	}
	return []api.Certificate{{Name: "etcd client", NotAfter: e.config.TLS.Certificates[0].Leaf.NotAfter}}
}

// Client returns the client. The first call makes it; with a password that takes as long as etcd needs to check it, at
// most two minutes. Other calls wait for the first, and the next one after an error tries again.
func (e *Etcd) Client(ctx context.Context) (*clientv3.Client, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.client != nil {
		return e.client, nil
	}
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, end) // until the call ends
	config := e.config
	config.Context = life
	client, err := clientv3.New(config)
	if !stop() && err == nil {
		client.Close()
		err = ctx.Err()
	}
	if err == nil {
		e.client = client
	}
	return e.client, err
}

// Close closes the client. Nobody may use the connection afterwards.
func (e *Etcd) Close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.client != nil {
		e.client.Close()
	}
}

// etcdFields are the fields of the client's file.
var etcdFields = strings.Fields(`endpoints auto-sync-interval dial-timeout dial-keep-alive-time dial-keep-alive-timeout
	username password token reject-old-cluster permit-without-stream max-unary-retries backoff-wait-between
	backoff-jitter-fraction insecure-transport insecure-skip-tls-verify cert-file key-file trusted-ca-file`)

// checkEtcdFile rejects what the client ignores, an unknown field and a certificate without its key, and times that are
// probably wrong: the client takes nanoseconds.
func checkEtcdFile(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	given := map[string]any{}
	if err := goyaml.Unmarshal(text, &given); err != nil {
		return err
	}
	for name, value := range given {
		if !slices.Contains(etcdFields, name) {
			return fmt.Errorf("unknown field %q: the fields are %s", name, strings.Join(etcdFields, ", "))
		}
		if n, isInt := value.(int); isInt && n != 0 && n < int(time.Millisecond) && name != "max-unary-retries" && name != "backoff-jitter-fraction" {
			return fmt.Errorf("%s: %d is %v: write nanoseconds, such as 5000000000 for five seconds", name, n, time.Duration(n))
		}
	}
	if (given["cert-file"] == nil) != (given["key-file"] == nil) {
		return errors.New("cert-file and key-file belong together: give both")
	}
	return nil
}

// endpointURL parses the address of a server as the client does: one without a scheme
// is reached with TLS if there is a configuration for it.
func endpointURL(endpoint string, config *tls.Config) (*url.URL, error) {
	address := endpoint
	switch {
	case strings.Contains(endpoint, "://"):
	case config == nil:
		address = "http://" + endpoint
	default:
		address = "https://" + endpoint
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.Port() == "" ||
		u.User != nil || strings.Trim(u.Path, "/") != "" {
		shown := endpoint[strings.LastIndex(endpoint, "@")+1:] // no password
		return nil, fmt.Errorf("%q is not the address of an etcd server: give one such as https://etcd.example.com:2379", shown)
	}
	return u, nil
}

// Explain adds to an error of the client what to do about it; nil stays nil. If an answer, such as "a list", did not
// come in time, it finds the cause, since the client reports only the timeout. rights are those that the user needs, as
// etcdctl takes them.
func (e *Etcd) Explain(ctx context.Context, err error, answer, rights string) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, rpctypes.ErrPermissionDenied):
		return fmt.Errorf("%w: grant it with: etcdctl role grant-permission ROLE %s", err, rights)
	case errors.Is(err, rpctypes.ErrUserEmpty):
		return fmt.Errorf("%w: this etcd wants a user: write username and password into a file for -etcd_config", err)
	case strings.HasPrefix(err.Error(), "rpc error:"): // not one of etcd's own
		return fmt.Errorf("%w: is an etcd 3 at this address?", stableMessage(err))
	case errors.Is(err, context.DeadlineExceeded):
		busy := ""
		if e.config.Username != "" {
			busy = "is etcd busy with the passwords of many hosts (client certificates need no such check), "
		}
		if err := e.dialEndpoints(ctx); err != nil {
			return err
		}
		return fmt.Errorf("its servers accept connections and do not answer %s: %s"+
			"has the cluster lost its leader, does a server want https or a client certificate, or is it no etcd 3?", answer, busy)
	}
	return err
}

// dialEndpoints returns why no server can be reached, or nil if one can.
func (e *Etcd) dialEndpoints(ctx context.Context) (errs error) {
	for _, endpoint := range e.config.Endpoints {
		u, err := endpointURL(endpoint, e.config.TLS)
		if err != nil {
			return err
		}
		if err = e.dial(ctx, u); err == nil {
			return nil
		}
		errs = errors.Join(errs, fmt.Errorf("%s: %w", endpoint, stableMessage(err)))
	}
	return errs
}

// dial connects to a server. Since TLS 1.3 a server refuses a client's certificate only after the handshake, so dial
// reads the refusal.
func (e *Etcd) dial(ctx context.Context, server *url.URL) error {
	const patience = time.Second
	plain := &net.Dialer{Timeout: patience}
	dial := plain.DialContext
	if server.Scheme == "https" {
		dial = (&tls.Dialer{NetDialer: plain, Config: e.config.TLS}).DialContext
	}
	conn, err := dial(ctx, "tcp", server.Host)
	if err != nil {
		return err
	}
	defer conn.Close()
	if server.Scheme == "https" {
		conn.SetReadDeadline(time.Now().Add(patience))
		_, err = conn.Read(make([]byte, 1))
	}
	if refused, ok := errors.AsType[*net.OpError](err); !ok || refused.Op != "remote error" {
		return nil // it waits for a request
	}
	for _, c := range e.Certificates() {
		if warning := c.Warning(time.Now()); warning != "" {
			return fmt.Errorf("%w: %s", err, warning)
		}
	}
	return fmt.Errorf("%w: this is what the server says of the client's certificate, cert-file in the file of -etcd_config", err)
}
