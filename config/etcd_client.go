package config

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/yaml"
	"go.uber.org/zap"
	goyaml "go.yaml.in/yaml/v4"
)

// EtcdConfig makes the configuration of the etcd client: from the addresses of
// servers, or when there are none from a file in the client's own YAML format.
func EtcdConfig(servers []string, file string) (clientv3.Config, error) {
	config := &clientv3.Config{Endpoints: servers}
	if len(servers) == 0 {
		err := checkEtcdFile(file)
		if err == nil {
			config, err = yaml.NewConfig(file)
		}
		if err != nil {
			return clientv3.Config{}, fmt.Errorf("read the etcd client's configuration %s: %w", file, err)
		}
	}
	if len(config.Endpoints) == 0 {
		return clientv3.Config{}, fmt.Errorf("%s names no servers: write endpoints: [\"https://HOST:2379\"]", file)
	}
	for _, endpoint := range config.Endpoints {
		u, err := endpointURL(endpoint, config.TLS)
		if err != nil {
			return clientv3.Config{}, err
		}
		warnOfPlainText(u)
	}
	config.Logger = zap.NewNop() // what it has to say comes as errors too
	config.DialTimeout = cmp.Or(config.DialTimeout, etcdAnswerTime)
	// Without these a server whose host is cut off is missed after a quarter of an hour.
	config.DialKeepAliveTime = cmp.Or(config.DialKeepAliveTime, 10*time.Second)
	config.DialKeepAliveTimeout = cmp.Or(config.DialKeepAliveTimeout, 3*time.Second)
	return *config, nil
}

// checkEtcdFile refuses what the client would leave out silently: who has mistyped
// "username" would be told that no user is given.
func checkEtcdFile(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var given map[string]any
	if err := goyaml.Unmarshal(data, &given); err != nil {
		return err
	}
	known := []string{"insecure-transport", "insecure-skip-tls-verify", "cert-file", "key-file", "trusted-ca-file"}
	for field := range reflect.TypeFor[clientv3.Config]().Fields() {
		if name := field.Tag.Get("json"); name != "" {
			known = append(known, name)
		}
	}
	for name := range given {
		if !slices.Contains(known, name) {
			return fmt.Errorf("unknown field %q: the fields are %s", name, strings.Join(known, ", "))
		}
	}
	if (given["cert-file"] == nil) != (given["key-file"] == nil) {
		return errors.New("cert-file and key-file need each other")
	}
	return nil
}

// endpointURL reads the address of a server as the client does: one without a
// scheme is spoken to with TLS when there is a configuration for it.
func endpointURL(endpoint string, config *tls.Config) (*url.URL, error) {
	address := endpoint
	switch {
	case strings.Contains(endpoint, "://"):
	case config != nil:
		address = "https://" + endpoint
	default:
		address = "http://" + endpoint
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.Port() == "" || u.User != nil || strings.Trim(u.Path, "/") != "" {
		shown := endpoint[strings.LastIndex(endpoint, "@")+1:] // no password
		return nil, fmt.Errorf("%q is no address of an etcd server: give one such as https://etcd.example.com:2379", shown)
	}
	return u, nil
}

// connectEtcd makes a client. It asks the server for a token when there is a user,
// and otherwise does not wait for one.
func connectEtcd(ctx context.Context, config clientv3.Config) (etcdClient, error) {
	config.Context = ctx
	return clientv3.New(config)
}

// tryEndpoints says why no server can be reached. It returns nil when one can.
func tryEndpoints(ctx context.Context, config clientv3.Config) error {
	var errs []error
	for _, endpoint := range config.Endpoints {
		err := tryEndpoint(ctx, endpoint, config.TLS)
		if err == nil {
			return nil
		}
		errs = append(errs, inSteadyWords(err))
	}
	return errors.Join(errs...)
}

func tryEndpoint(ctx context.Context, endpoint string, config *tls.Config) error {
	u, err := endpointURL(endpoint, config)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if u.Scheme == "http" {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", u.Host)
		if err != nil {
			return err
		}
		return conn.Close()
	}
	conn, err := (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", u.Host)
	switch {
	case errors.Is(err, io.EOF):
		return fmt.Errorf("%s: the server hangs up: does it speak TLS?", endpoint)
	case err != nil:
		return fmt.Errorf("%s: %w", endpoint, err)
	}
	defer conn.Close()
	// A server that wants a certificate of its client says so only now; one that has
	// nothing against it waits for us to speak.
	deadline, _ := ctx.Deadline()
	conn.SetReadDeadline(deadline)
	if _, err := conn.Read(make([]byte, 1)); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("%s: %w", endpoint, err)
	}
	return nil
}
