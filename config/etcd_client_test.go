package config

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"kubelet14/config/etcdtest"
)

func etcdFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "etcd.yaml")
	must(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

func TestEtcdConfigOfServers(t *testing.T) {
	logged := captureLog(t)
	servers := []string{"http://127.0.0.1:2379", "localhost:2379", "https://[::1]:2379/", "http://etcd.example.com:2379"}
	config, err := EtcdConfig(servers, "")
	must(t, err)
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

func TestEtcdConfigOfAFile(t *testing.T) {
	tls := etcdtest.StartTLS(t).TLS
	config, err := EtcdConfig(nil, etcdFile(t, fmt.Sprintf(`
endpoints: ["https://etcd-1:2379", etcd-2:2379]
dial-timeout: 2
dial-keep-alive-time: 3
dial-keep-alive-timeout: 4
username: me
password: s3cret
insecure-transport: false
insecure-skip-tls-verify: true
cert-file: %s
key-file: %s
trusted-ca-file: %s
`, tls.Cert, tls.Key, tls.CA)))
	must(t, err)
	if config.TLS == nil || len(config.TLS.Certificates) != 1 || config.TLS.RootCAs == nil || !config.TLS.InsecureSkipVerify {
		t.Errorf("TLS is %+v", config.TLS)
	}
	config.TLS, config.Logger = nil, nil
	want := clientv3.Config{
		Endpoints: []string{"https://etcd-1:2379", "etcd-2:2379"}, DialTimeout: 2, DialKeepAliveTime: 3, DialKeepAliveTimeout: 4,
		Username: "me", Password: "s3cret",
	}
	if fmt.Sprintf("%+v", config) != fmt.Sprintf("%+v", want) {
		t.Errorf("got  %+v\nwant %+v", config, want)
	}
}

func TestEtcdBadConfigIsRefused(t *testing.T) {
	for field := range reflect.TypeFor[clientv3.Config]().Fields() {
		if name := field.Tag.Get("json"); name != "" && name != "-" && !slices.Contains(etcdFields, name) {
			t.Errorf("the client's field %q is refused", name)
		}
	}
	const server = "endpoints: [https://etcd:2379]\n"
	for text, word := range map[string]string{
		"endpoints: [":                 "etcd.yaml",
		"hello":                        "etcd.yaml",
		server + "dial-timeout: soon":  "dial-timeout",
		"username: me":                 `names no servers: write endpoints: ["https://HOST:2379"]`,
		"":                             "etcd.yaml: it names no servers",
		server + "usernam: me":         `etcd.yaml: unknown field "usernam": the fields are endpoints, `,
		server + "ca-file: ca.pem":     `unknown field "ca-file"`, // the client ignores it
		server + "cert-file: cert.pem": "etcd.yaml: cert-file and key-file need each other",
		server + "key-file: key.pem":   "cert-file and key-file need each other",
		server + "trusted-ca-file: /no/such/ca.pem":                         "/no/such/ca.pem: no such file",
		server + "cert-file: /no/such/cert.pem\nkey-file: /no/such/key.pem": "/no/such/cert.pem: no such file",
		"endpoints: [etcd]": `"etcd" is no address of an etcd server`,
	} {
		if _, err := EtcdConfig(nil, etcdFile(t, text)); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%s: no %q in the error: %v", text, word, err)
		}
	}
	if _, err := EtcdConfig(nil, "/no/such/file"); err == nil || !strings.Contains(err.Error(), "/no/such/file: no such file") {
		t.Errorf("no such file: got %v", err)
	}
	for _, address := range []string{
		"etcd", "http://etcd", "http://:2379", "http://", "ftp://etcd:2379", "unix:///run/etcd", "etcd:http",
		"http://etcd:2379/v2/keys", "http://etcd:2379,http://etcd-2:2379", "http://me:s3cret@etcd:2379", "me:s3cret@etcd:2379",
	} {
		_, err := EtcdConfig([]string{"http://127.0.0.1:2379", address}, "")
		if err == nil || !strings.Contains(err.Error(), "is no address of an etcd server: give one such as https://") || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: got %v", address, err)
		}
	}
}
