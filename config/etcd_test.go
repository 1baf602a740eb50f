package config

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	grpcbackoff "google.golang.org/grpc/backoff"

	"kubelet14/api"
	"kubelet14/api/unittest"
	"kubelet14/config/etcdtest"
)

// The keys of the tests' host.
const (
	etcdList = "/registry/hosts/host/kubelet"
	etcdPods = etcdList + "/"
)

// How often a source lists the keys without a hint.
const (
	hourly     = time.Hour // it notices changes only by its watch
	frequently = 50 * time.Millisecond
)

// runEtcd runs a source for endpoints or, without any, for what the file says.
func runEtcd(t *testing.T, pollInterval time.Duration, file string, endpoints ...string) *run {
	t.Helper()
	return runSource(t, newEtcdSource(t, pollInterval, file, endpoints...))
}

func newEtcdSource(t *testing.T, pollInterval time.Duration, file string, endpoints ...string) *SourceEtcd {
	t.Helper()
	etcd, err := OpenEtcd(endpoints, file)
	unittest.Must(t, err)
	t.Cleanup(etcd.Close)
	etcd.config.DialOptions = append(etcd.config.DialOptions, grpc.WithConnectParams(grpc.ConnectParams{
		Backoff: grpcbackoff.Config{BaseDelay: frequently, MaxDelay: frequently, Multiplier: 1}, MinConnectTimeout: time.Second,
	}))
	source := NewSourceEtcd(etcd, testParser())
	source.pollInterval, source.noPodsWait = pollInterval, pollInterval
	if pollInterval == frequently {
		source.silence, source.patience = time.Second, 2*time.Second // otherwise an error on a busy machine, which takes longer
	}
	return source
}

// webOnEtcd starts an etcd with the pod web, and a source that has read it. It gives
// the source the address of a server that is gone, too.
func webOnEtcd(t *testing.T, pollInterval time.Duration) (s *etcdtest.Server, r *run, gone string) {
	t.Helper()
	s, gone = etcdtest.Start(t), "http://"+etcdtest.ReserveAddress(t)
	s.Ctl("put", etcdPods+"web", manifest("", "1"))
	r = runEtcd(t, pollInterval, "", gone, s.Endpoint())
	r.await("web=1")
	return s, r, gone
}

func TestEtcdKeysArriveAsTheyChange(t *testing.T) {
	t.Parallel()
	s, r, _ := webOnEtcd(t, hourly)
	for _, others := range []string{"host/kubelet-2/x", "host/kubelet.x", "host/kubelet0", "host2/kubelet/x", "hos/kubelet/x", "host/x"} {
		s.Ctl("put", "/registry/hosts/"+others, manifest("other", "1"))
	}
	s.Ctl("put", etcdPods+"web", manifest("", "2"))
	r.await("web=2")
	s.Ctl("put", etcdPods+"x", withUUID("some-uuid", manifest("db", "1")))
	r.await("web=2 db=1")
	s.Ctl("put", etcdList, listObject(manifest("a", "1"), manifest("", "1")))
	r.await("a=1 2=1 web=2 db=1")
	s.Ctl("put", etcdList, listObject(manifest("a", "2")))
	r.await("a=2 web=2 db=1")
	a, db := r.last.Pods[0], r.last.Pods[2]
	if a.Source != "etcd" || a.Namespace != api.NamespaceDefault || a.UID != api.NewUID("host", "etcd", api.NamespaceDefault, "a") || a.Origin != etcdList+" (item 1)" {
		t.Errorf("a pod of the list: %+v", a)
	}
	if db.UID != "some-uuid" || db.Origin != etcdPods+"x" {
		t.Errorf("a pod of a key: %+v", db)
	}
	s.Ctl("del", etcdPods+"web")
	r.await("a=2 db=1")
	s.Ctl("del", etcdList) // in 2014 this removed nothing
	r.await("db=1")
	lease := strings.Fields(s.Ctl("lease", "grant", "3600"))[1]
	s.Ctl("put", etcdPods+"leased", manifest("", "1"), "--lease="+lease)
	r.await("leased=1 db=1")
	s.Ctl("lease", "revoke", lease) // as when it expires
	r.await("db=1")
	s.Ctl("del", etcdPods+"x")
	r.await("")
	if len(r.errs) > 0 {
		t.Errorf("errors: %q", r.errs)
	}
}

// Each value is bad in another way. The key's last good pods and those of other keys stay, and the error names the key.
func TestEtcdBadValueKeepsTheLastGoodPods(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	client := s.Client()
	put := func(key, value string) {
		t.Helper()
		_, err := client.Put(t.Context(), key, value)
		unittest.Must(t, err)
	}
	r := runEtcd(t, hourly, "", s.Endpoint())
	for _, test := range []struct{ key, value, word string }{
		{etcdPods + "b", "", "empty"},
		{etcdPods + "b", manifest("", "2") + "\n---\n" + manifest("", "2"), `pod "b" is in`},
		{etcdPods + "b", manifest("other", "2"), etcdPods + "a"},
		{etcdList, "", "empty"},
		{etcdList, list(manifest("listed", "2"), "version: v9"), "v9"},
		{etcdList, list(manifest("listed", "2"), manifest("listed", "2")), `pod "listed"`},
		{etcdPods, manifest("", "2"), "give it an id"},
	} {
		put(etcdList, list(manifest("listed", "1")))
		put(etcdPods, manifest("slash", "1"))
		put(etcdPods+"a", manifest("other", "1"))
		put(etcdPods+"b", manifest("web", "1"))
		r.await("listed=1 slash=1 other=1 web=1")
		put(test.key, test.value)
		if test.word == etcdPods+"a" { // per pod: the key has given up web
			r.await("listed=1 slash=1 other=1", test.key, test.word)
			continue
		}
		r.await("listed=1 slash=1 other=1 web=1", test.key, test.word)
	}
}

// etcd takes 1.5 MiB for a request, with the key.
func TestEtcdBiggestValueIsRead(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	r := runEtcd(t, hourly, "", s.Endpoint())
	r.await("")
	_, err := s.Client().Put(t.Context(), etcdPods+"web", manifest("", "1")+"\n#"+strings.Repeat("x", 3<<19-200))
	unittest.Must(t, err)
	r.await("web=1")
}

func TestEtcdBurstEndsWithTheNewestValues(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	client := s.Client()
	r := runEtcd(t, hourly, "", s.Endpoint())
	r.await("")
	var pods []string
	for i := range 200 {
		pods = append(pods, fmt.Sprintf("pod%03d", i))
	}
	var putting sync.WaitGroup
	putting.Go(func() {
		for _, image := range []string{"1", "2", "3"} {
			for _, pod := range pods {
				if _, err := client.Put(t.Context(), etcdPods+pod, manifest("", image)); err != nil {
					t.Error(err)
				}
			}
		}
	})
	r.await(strings.Join(pods, "=3 ") + "=3")
	putting.Wait()
}

func etcdFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "etcd.yaml")
	unittest.Must(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

func TestEtcdConfigOfServers(t *testing.T) {
	logged := unittest.Log(t, "0")
	servers := []string{"http://127.0.0.1:2379", "localhost:2379", "https://[::1]:2379/", "http://etcd.example.com:2379"}
	etcd, err := OpenEtcd(servers, "")
	unittest.Must(t, err)
	config := etcd.config
	if fmt.Sprint(config.Endpoints) != fmt.Sprint(servers) || config.TLS != nil || config.Logger == nil {
		t.Errorf("got %+v", config)
	}
	if config.DialTimeout != 2*time.Minute || config.DialKeepAliveTime != 10*time.Second || config.DialKeepAliveTimeout != 30*time.Second {
		t.Errorf("it waits for ever for a server that is gone, or not for one that is busy: %+v", config)
	}
	if text := logged(); strings.Count(text, "without TLS") != 1 || !strings.Contains(text, "http://etcd.example.com:2379") {
		t.Errorf("log:\n%s", text)
	}
}

func TestEtcdConfigOfAFile(t *testing.T) {
	tls := etcdtest.StartTLS(t).TLS
	etcd, err := OpenEtcd(nil, etcdFile(t, fmt.Sprintf(`
endpoints: ["https://etcd-1:2379", etcd-2:2379]
dial-timeout: 2000000000
dial-keep-alive-time: 3000000000
dial-keep-alive-timeout: 4000000000
username: me
password: s3cret
insecure-transport: false
insecure-skip-tls-verify: true
cert-file: %s
key-file: %s
trusted-ca-file: %s
`, tls.Cert, tls.Key, tls.CA)))
	unittest.Must(t, err)
	config := etcd.config
	if config.TLS == nil || len(config.TLS.Certificates) != 1 || config.TLS.RootCAs == nil || !config.TLS.InsecureSkipVerify {
		t.Errorf("TLS is %+v", config.TLS)
	}
	config.TLS, config.Logger, config.DialOptions = nil, nil, nil
	want := clientv3.Config{
		Endpoints: []string{"https://etcd-1:2379", "etcd-2:2379"}, DialTimeout: 2 * time.Second, DialKeepAliveTime: 3 * time.Second, DialKeepAliveTimeout: 4 * time.Second,
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
		server + "dial-timeout: 5":     "dial-timeout: 5 is 5ns: write nanoseconds, such as 5000000000 for five seconds",
		"username: me":                 `names no servers: write endpoints: ["https://HOST:2379"]`,
		"":                             "etcd.yaml: it names no servers",
		server + "usernam: me":         `etcd.yaml: unknown field "usernam": the fields are endpoints, `,
		server + "ca-file: ca.pem":     `unknown field "ca-file"`, // the client ignores it
		server + "cert-file: cert.pem": "etcd.yaml: cert-file and key-file belong together: give both",
		server + "key-file: key.pem":   "cert-file and key-file belong together: give both",
		server + "trusted-ca-file: /no/such/ca.pem":                         "/no/such/ca.pem: no such file",
		server + "cert-file: /no/such/cert.pem\nkey-file: /no/such/key.pem": "/no/such/cert.pem: no such file",
		"endpoints: [etcd]": `"etcd" is not the address of an etcd server`,
	} {
		if _, err := OpenEtcd(nil, etcdFile(t, text)); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%s: no %q in the error: %v", text, word, err)
		}
	}
	if _, err := OpenEtcd(nil, "/no/such/file"); err == nil || !strings.Contains(err.Error(), "/no/such/file: no such file") {
		t.Errorf("no such file: got %v", err)
	}
	for _, address := range []string{
		"etcd", "http://etcd", "http://:2379", "http://", "ftp://etcd:2379", "unix:///run/etcd", "etcd:http",
		"http://etcd:2379/v2/keys", "http://etcd:2379,http://etcd-2:2379", "http://me:s3cret@etcd:2379", "me:s3cret@etcd:2379",
	} {
		_, err := OpenEtcd([]string{"http://127.0.0.1:2379", address}, "")
		if err == nil || !strings.Contains(err.Error(), "is not the address of an etcd server: give one such as https://") || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: got %v", address, err)
		}
	}
}
