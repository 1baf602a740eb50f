package options

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubelet14/api"
	"kubelet14/api/unittest"
)

const header = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"

// configFile writes a file, and returns the flag that names it.
func configFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubelet.yaml")
	unittest.Must(t, os.WriteFile(path, []byte(text), 0o644))
	return "-config_file=" + path
}

// notInTheFile are the flags that belong to one host or to one start.
var notInTheFile = strings.Fields(`config_file hostname_override root_dir docker_endpoint etcd_accept exit_on_lock_contention
	runonce runonce_timeout dry_run step convert status watch cleanup version completion`)

// fileField is a field of the file that sets a flag.
type fileField struct{ flag, sep, yaml string } // yaml has %s in the place of the value

func fileFields(t reflect.Type, yaml string) (fields []fileField) {
	for f := range t.Fields() {
		flag, value := f.Tag.Get("flag"), "%s"
		switch f.Type.Kind() {
		case reflect.Slice:
			value = "[%s]"
		case reflect.Map, reflect.Struct:
			value = "{%s}"
		}
		switch yaml := fmt.Sprintf(yaml, api.JSONName(f)+": "+value); {
		case flag != "":
			fields = append(fields, fileField{flag, f.Tag.Get("sep"), yaml})
		case f.Type.Kind() == reflect.Struct:
			fields = append(fields, fileFields(f.Type, yaml)...)
		}
	}
	return fields
}

// samples are pairs of values. The test uses for each flag the first pair that it accepts and that is not its default.
var samples = [][2]string{
	{"/7s", "/8s"}, {"7s", "8s"}, {"7", "8"}, {"true", "false"}, {"false", "true"}, {"Eviction=true", "Eviction=false"},
	{"memory.available<7%", "memory.available<8%"}, {"memory.available=7s", "memory.available=8s"},
}

func TestEveryFlagIsInTheFileAndCountsBeforeIt(t *testing.T) {
	read := func(args ...string) (Options, error) {
		f := &Options{}
		flags := joined(f.topics())
		flags.SetOutput(io.Discard)
		err := flags.Parse(args)
		if f.ConfigFile != "" {
			err = errors.Join(err, f.readFile(flags, func() error { return nil }))
		}
		f.ConfigFile = ""
		return *f, err
	}
	defaults, _ := read()
	inTheFile := map[string]bool{}
	for _, field := range fileFields(reflect.TypeFor[KubeletConfiguration](), "%s") {
		inTheFile[field.flag] = true
		var values [2]string
		var want Options
		for _, values = range samples {
			if got, err := read("-" + field.flag + "=" + values[0]); err == nil && !reflect.DeepEqual(got, defaults) {
				want = got
				break
			}
		}
		value := values[0]
		if field.sep != "" {
			value = strings.Replace(value, field.sep, ": ", 1)
		}
		file := configFile(t, header+fmt.Sprintf(field.yaml+"\n", value))
		if got, err := read(file); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("-%s: %v; a file with %s does not give what the flag does:\n%+v", field.flag, err, value, got)
		}
		flag := "-" + field.flag + "=" + values[1]
		want, _ = read(flag)
		if got, err := read(flag, file); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%v; with %s the value %s in a file counts:\n%+v", err, flag, value, got)
		}
	}
	joined((&Options{}).topics()).VisitAll(func(f *flag.Flag) {
		if inTheFile[f.Name] == slices.Contains(notInTheFile, f.Name) {
			t.Errorf("-%s: a field of the file has it: %v; it is an exception: %[2]v", f.Name, inTheFile[f.Name])
		}
	})
}

// kubeadm writes 0s for what it leaves to the kubelet.
func TestFileOfKubeadm(t *testing.T) {
	f := parse(t, "-config_file=testdata/kubeadm.yaml")
	const want = "authentication authorization cgroupDriver clusterDNS clusterDomain healthzBindAddress healthzPort " +
		"logging resolvConf rotateCertificates"
	if got := strings.Join(f.Ignored, " "); got != want {
		t.Errorf("it ignores %s, want %s", got, want)
	}
	f.ConfigFile, f.Ignored = "", nil
	if want := parse(t, "-config=/etc/kubernetes/manifests"); !reflect.DeepEqual(f, want) {
		t.Errorf("the options are\n%+v, want\n%+v", f, want)
	}
}

func TestPathsBeginAtTheFile(t *testing.T) {
	file := configFile(t, header+`staticPodPath: ../pods
address: unix:/run/socket
tokenFile: token
etcdServers: ["http://a:1", "http://b:2"]
etcdStatus: true
logQueryUnits: [docker, kubelet14]
containerLogMaxSize: 10Mi
featureGates: {AllAlpha: true, Eviction: false, Services: true}
`)
	dir := filepath.Dir(strings.TrimPrefix(file, "-config_file="))
	f := parse(t, file, "-feature_gates=Services=false")
	got := []any{f.Config, f.Server.Address, f.TokenFile, f.EtcdServers, f.Server.LogUnits, f.Kubelet.ContainerLog.MaxSize, f.Gates.String()}
	want := []any{filepath.Dir(dir) + "/pods", "unix:/run/socket", dir + "/token", []string{"http://a:1", "http://b:2"}, "docker,kubelet14", int64(10 << 20),
		"AllAlpha=true,Eviction=false,Services=false"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the file gives\n%v, want\n%v", got, want)
	}
	if f := parse(t, "-etcd-servers=http://c:3", file); !slices.Equal(f.EtcdServers, []string{"http://c:3"}) {
		t.Errorf("etcd servers are %q, want that of the flag alone", f.EtcdServers)
	}
}

func TestFilesThatAreRefused(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{header + "staticPodPath: /pods\nsyncFrequencey: 5s\n", `FILE:4:1: syncFrequencey: unknown field: did you mean "syncFrequency"?
  2 | kind: KubeletConfiguration
  3 | staticPodPath: /pods
> 4 | syncFrequencey: 5s
    | ^`},
		{header + "port: http\nenableServer: maybe\nsyncFrequency: 5\ntlsMinVersion: VersionTLS13\nrunOnce: true\n",
			`FILE:6:1: tlsMinVersion: not supported: remove it
  4 | enableServer: maybe
  5 | syncFrequency: 5
> 6 | tlsMinVersion: VersionTLS13
    | ^
  7 | runOnce: true
FILE:7:1: runOnce: not supported: give -runonce
  5 | syncFrequency: 5
  6 | tlsMinVersion: VersionTLS13
> 7 | runOnce: true
    | ^`},
		{header + "port: http\nenableServer: maybe\ncrashLoopBackOff: {maxContainerRestartPeriod: 5}\nfeatureGates:\n  AllAlpha: true\n  a.b: true\n",
			`FILE:3:7: port: invalid value "http": it takes a port
  1 | apiVersion: kubelet.config.k8s.io/v1beta1
  2 | kind: KubeletConfiguration
> 3 | port: http
    |       ^
  4 | enableServer: maybe
FILE:4:15: enableServer: invalid value "maybe": it takes a word, true or false
  2 | kind: KubeletConfiguration
  3 | port: http
> 4 | enableServer: maybe
    |               ^
  5 | crashLoopBackOff: {maxContainerRestartPeriod: 5}
FILE:5:47: crashLoopBackOff.maxContainerRestartPeriod: invalid value "5": it takes a duration, such as 20s or 5m
  3 | port: http
  4 | enableServer: maybe
> 5 | crashLoopBackOff: {maxContainerRestartPeriod: 5}
    |                                               ^
  6 | featureGates:
FILE:8:8: featureGates[a.b]: invalid value "a.b=true": unknown gate "a.b": use AllAlpha, Eviction, ImageGarbageCollection, NodeLogQuery or Services
  6 | featureGates:
  7 |   AllAlpha: true
> 8 |   a.b: true
    |        ^`},
		{header + "staticPodPath: /pods\nsyncFrequency: -5s\n", `FILE:4:16: syncFrequency: -sync_frequency must be longer than 0
  2 | kind: KubeletConfiguration
  3 | staticPodPath: /pods
> 4 | syncFrequency: -5s
    |                ^`},
		{header + "staticPodPath: .\n", `FILE:3:16: staticPodPath: -config_file=FILE is one of the manifests of -config=DIR: move it to another directory
  1 | apiVersion: kubelet.config.k8s.io/v1beta1
  2 | kind: KubeletConfiguration
> 3 | staticPodPath: .
    |                ^`},
		{header + "etcdServers: ['http://u:pä@w@a/@', http://v:p@b, '']\n", `FILE:3:14: etcdServers: -etcd_servers has an empty address
  1 | apiVersion: kubelet.config.k8s.io/v1beta1
  2 | kind: KubeletConfiguration
> 3 | etcdServers: ['http://xxxxxx@a/@', http://xxx@b, '']
    |              ^`},
		{"apiVersion: v1\nkind: Pod\n", `FILE:2:7: kind: write "kind: KubeletConfiguration"
  1 | apiVersion: v1
> 2 | kind: Pod
    |       ^`},
		{"kind: KubeletConfiguration\n", `FILE:1:1: apiVersion: write "apiVersion: kubelet.config.k8s.io/v1beta1"
> 1 | kind: KubeletConfiguration
    | ^`},
		{header + "---\nport: 1\n", `FILE:4:1: this is another document: write one KubeletConfiguration
  2 | kind: KubeletConfiguration
  3 | ---
> 4 | port: 1
    | ^`},
		{"# nothing\n", `FILE: it is empty or has only comments; write "apiVersion: kubelet.config.k8s.io/v1beta1" and "kind: KubeletConfiguration"`},
		{header + "staticPodPath: /pods", "-config_file: FILE does not end with a newline, so the rest of it may be missing: write all of it, and a newline at the end"},
		{header + strings.Repeat("#", api.MaxManifestBytes), "FILE: too many bytes: the limit is 1572864"},
		{header + "port: 1\n", "no source of pods: give -config=DIRECTORY, -manifest_url=URL or -etcd_servers=ADDRESS"},
	} {
		flag := configFile(t, test.text)
		path := strings.TrimPrefix(flag, "-config_file=")
		_, err := Parse("v0", []string{flag})
		if err == nil {
			t.Errorf("this file is accepted:\n%s", test.text)
			continue
		}
		got := strings.NewReplacer(path, "FILE", filepath.Dir(path), "DIR").Replace(api.WithExcerpts(err))
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s\n(-want +got):\n%s", test.text, diff)
		}
	}
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	unittest.Must(t, syscall.Mkfifo(pipe, 0o600))
	writer, err := os.OpenFile(pipe, os.O_RDWR, 0) // otherwise a read would find the end
	unittest.Must(t, err)
	defer writer.Close()
	const special = "it is not a regular file"
	for path, want := range map[string]string{dir: special, pipe: special, "/dev/zero": special, dir + "/gone": "no such file or directory"} {
		_, err := Parse("v0", []string{"-config_file=" + path})
		if err == nil || !strings.Contains(err.Error(), path+": "+want+": it takes a file of kind KubeletConfiguration; manifests are for -config") {
			t.Errorf("%s: %v", path, err)
		}
	}
}
