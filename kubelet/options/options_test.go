package options

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"kubelet14/api/unittest"
	"kubelet14/api/validation"
	"kubelet14/kubelet"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/eviction"
	"kubelet14/kubelet/features"
	"kubelet14/kubelet/imagegc"
	"kubelet14/kubelet/plan"
	"kubelet14/kubelet/server"
)

func parse(t *testing.T, args ...string) *Options {
	t.Helper()
	f, err := Parse("v0", args)
	if err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	return f
}

// printed returns what Parse prints for flags that ask for nothing else.
func printed(t *testing.T, args ...string) string {
	t.Helper()
	stdout := os.Stdout
	defer func() { os.Stdout = stdout }()
	var err error
	os.Stdout, err = os.Create(filepath.Join(t.TempDir(), "stdout"))
	unittest.Must(t, err)
	defer os.Stdout.Close()
	if _, err := Parse("v0", args); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("%q: %v, want flag.ErrHelp", args, err)
	}
	text, err := os.ReadFile(os.Stdout.Name())
	unittest.Must(t, err)
	return string(text)
}

func TestDefaults(t *testing.T) {
	root := filepath.Join(t.TempDir(), "root")
	want := Options{
		Config: "pods", RootDir: root, FileCheckFrequency: 20 * time.Second, HTTPCheckFrequency: 20 * time.Second,
		RunonceTimeout: 5 * time.Minute, EnableServer: true, Eviction: eviction.DefaultOptions(), Images: imagegc.Options{High: 85, Low: 80, MinAge: 2 * time.Minute},
		Kubelet: kubelet.Options{
			Identity:              dockertools.Identity{Hostname: "host", RootDir: root},
			NetworkContainerImage: dockertools.PauseImage,
			SyncFrequency:         10 * time.Second, Limits: plan.Limits{MaxBackoff: time.Minute, MaxDeadContainers: 2},
			RegistryBurst: 10, ContainerLog: dockertools.LogLimit{MaxSize: 10e6, MaxFiles: 3},
		},
		Server: server.Options{Address: "127.0.0.1", Port: 10250, TokenFile: root + "/token", Debugging: true, CAdvisorPort: 4194},
	}
	if got := parse(t, "-config=pods", "-hostname_override=host", "-root_dir="+root); !reflect.DeepEqual(*got, want) {
		t.Errorf("flags are\n%+v, want\n%+v", *got, want)
	}
	name, err := os.Hostname()
	unittest.Must(t, err)
	f := parse(t, "-config=x", "-container_log_max_size=0")
	if f.RootDir != "/var/lib/kubelet" || f.Kubelet.Identity.Hostname != strings.ToLower(name) {
		t.Errorf("root_dir %s, hostname %s on host %s", f.RootDir, f.Kubelet.Identity.Hostname, name)
	}
	if f.Kubelet.ContainerLog != (dockertools.LogLimit{}) {
		t.Errorf("a log size of 0 is the limit %+v, want none", f.Kubelet.ContainerLog)
	}
}

// Names of flags may have dashes; values keep theirs.
func TestEveryFlagReachesItsOption(t *testing.T) {
	args := []string{
		"-config=a-b_c", "-hostname_override=my-host", "-root_dir=/ro-ot", "-docker_endpoint=unix:///sock",
		"-network_container_image=pause", "-pod_network=bridge", "-allow_privileged", "-sync_frequency=1s", "-file_check_frequency=2s",
		"-manifest_url=http://web/pods", "-http_check_frequency=7s",
		"-runonce", "-runonce_timeout=3s", "-max_restart_backoff=4s",
		"-maximum_dead_containers_per_container=5", "-minimum_container_ttl_duration=6s",
		"-registry_qps=0.5", "-registry_burst=8", "-container_log_max_size=9KB", "-container_log_max_files=7",
		"-enable_server=false", "-address=::1", "-port=1", "-enable_debugging_handlers=false", "-token_file=token", "-cadvisor_port=2",
		"-tls_cert_file=cert", "-tls_private_key_file=key", "-feature_gates=AllAlpha=false,Eviction=true", "-log_query_units=docker,getty@tty1",
		"-exit_on_lock_contention",
		"-eviction_hard=memory.available<1Gi,imagefs.available<0", "-eviction_soft=memory.available<9%", "-eviction_soft_grace_period=memory.available=8m",
		"-image_gc_high_threshold=50", "-image_gc_low_threshold=40", "-minimum_image_ttl_duration=10m",
		"-eviction_pressure_transition_period=9m", "-eviction_max_pod_grace_period=3",
	}
	evictionOptions := eviction.DefaultOptions()
	unittest.Must(t, evictionOptions.Hard.Set("memory.available<1Gi,imagefs.available<0"))
	unittest.Must(t, evictionOptions.Soft.Set("memory.available<9%"))
	unittest.Must(t, evictionOptions.SoftGracePeriod.Set("memory.available=8m"))
	evictionOptions.TransitionPeriod, evictionOptions.MaxPodGrace = 9*time.Minute, 3
	var gates features.Gates
	unittest.Must(t, gates.Set("AllAlpha=false,Eviction=true"))
	want := Options{
		Gates: gates, Eviction: evictionOptions, Images: imagegc.Options{High: 50, Low: 40, MinAge: 10 * time.Minute},
		Config: "a-b_c", RootDir: "/ro-ot", DockerEndpoint: "unix:///sock", FileCheckFrequency: 2 * time.Second,
		ManifestURL: "http://web/pods", HTTPCheckFrequency: 7 * time.Second, Runonce: true, RunonceTimeout: 3 * time.Second,
		TokenFile: "token", TLSCertFile: "cert", TLSKeyFile: "key", ExitOnLockContention: true,
		Kubelet: kubelet.Options{
			Identity:              dockertools.Identity{Hostname: "my-host", RootDir: "/ro-ot"},
			NetworkContainerImage: "pause", SyncFrequency: time.Second,
			Limits:      plan.Limits{PodNetwork: "bridge", MaxBackoff: 4 * time.Second, MaxDeadContainers: 5, MinDeadAge: 6 * time.Second},
			RegistryQPS: 0.5, RegistryBurst: 8, ContainerLog: dockertools.LogLimit{MaxSize: 9000, MaxFiles: 7},
		},
		Rules:  validation.Rules{AllowPrivileged: true},
		Server: server.Options{Address: "::1", Port: 1, TokenFile: "token", CAdvisorPort: 2, LogUnits: "docker,getty@tty1"},
	}
	var dashed, separate []string
	for _, arg := range args {
		name, value, hasValue := strings.Cut(arg, "=")
		name = "-" + strings.ReplaceAll(name, "_", "-")
		dashed, separate = append(dashed, name+arg[len(name)-1:]), append(separate, name)
		if value == "false" {
			separate[len(separate)-1] += "=false"
		} else if hasValue {
			separate = append(separate, value)
		}
	}
	for _, args := range [][]string{args, dashed, separate} {
		if got := parse(t, args...); !reflect.DeepEqual(*got, want) {
			t.Errorf("%q give\n%+v, want\n%+v", args, *got, want)
		}
	}
}

func TestSources(t *testing.T) {
	f := parse(t, "-etcd_servers=http://a:1, http://b:2", "-etcd-servers", "http://c:3")
	if want := []string{"http://a:1", "http://b:2", "http://c:3"}; !slices.Equal(f.EtcdServers, want) {
		t.Errorf("etcd servers are %q, want %q", f.EtcdServers, want)
	}
	// Each of these is a source. Nothing is opened yet.
	for _, source := range strings.Fields("-config=x -manifest_url=http://x -etcd_servers=http://x:1 -etcd_config=x -cleanup -status") {
		parse(t, source)
	}
	parse(t, "-status", "-address=unix:/run/s", "-port=0")
	parse(t, "-status", "-etcd_config=x", "-port=0", "-enable_server=false", "-etcd_status", "-address=0.0.0.0") // which need no info server
}

// A kubelet that does not keep running may run beside one that has the port.
func TestOnlyAKubeletThatStaysServes(t *testing.T) {
	for mode, want := range map[string]bool{
		"-v=0": true, "-enable_server=false": false, "-runonce": false, "-dry_run": false, "-convert": false, "-cleanup": false, "-status=false": true,
	} {
		if got := parse(t, "-config=x", mode).Serves(); got != want {
			t.Errorf("%s: serves is %v, want %v", mode, got, want)
		}
	}
}

func TestWhatMakesNoSenseIsRefused(t *testing.T) {
	for _, test := range []struct {
		args string
		want string // words of the error
	}{
		{"-config=x -confg=y", "unknown flag -confg did you mean -config?"},
		{"-config=x --root-dirs=y", "unknown flag -root-dirs did you mean -root-dir?"},
		{"-config=x -zzz", "unknown flag -zzz"},
		{"status", "unexpected argument status did you mean kubelet14 ps?"},
		{"-config=x rm web", "did you mean kubelet14 -cleanup?"},
		{"-config=x -logs", "unknown flag -logs did you mean kubelet14 logs?"},
		{"-config=x --ps", "unknown flag did you mean kubelet14 ps?"},
		{"manifests", "unexpected argument manifests -config=manifests"},
		{"-config=x -runonce y", `unexpected argument "y"`},
		{"-config=x -enable_server false", `unexpected argument "false" -enable_server=false`},
		{"-config=x -sync_frequency=5", `"5" -sync_frequency: it takes a duration, such as 20s`},
		{"-config=x -port=http", `"http" -port: it takes a port`},
		{"", "-config -manifest_url -etcd_servers"},
		{"-etcd_servers=", "-etcd_servers empty"},
		{"-etcd_servers=http://a:1 -etcd_config=x", "-etcd_servers -etcd_config combined"},
		{"-etcd_servers=http://a:1 -runonce", "-runonce etcd combined"},
		{"-config=x -runonce -dry_run", "-runonce -dry_run -cleanup combined"},
		{"-config=x -dry-run -cleanup", "-runonce -dry_run -cleanup combined"},
		{"-config=x -watch", "-watch -status"},
		{"-config=x -convert -runonce", "-runonce -convert combined"},
		{"-config=x -convert -manifest_url=http://x", "-convert -config no other"},
		{"-convert -etcd_config=x", "-convert -config no other"},
		{"-status -cleanup", "-status -cleanup combined"},
		{"-config=x -step -runonce", "-step -runonce combined"},
		{"-config=x -root_dir=", "-root_dir is empty"},
		{"-config=x -hostname_override=My_Host", `"My_Host" -hostname_override`},
		{"-config=x -log_dir=/no/such/directory", "-log_dir=/no/such/directory make it first"},
		{"-config=x -pod_network=host", "-pod_network=host bridge"},
		{"-config=x -pod_network=container:x", "-pod_network=container:x bridge"},
		{"-config=x -pod_network=" + strings.Repeat("0a", 32), "give a name"},
		{"-config=x -sync_frequency=0s", "-sync_frequency longer than 0"},
		{"-config=x -file_check_frequency=-1s", "-file_check_frequency longer than 0"},
		{"-manifest_url=http://x -http_check_frequency=0", "-http_check_frequency longer than 0"},
		{"-config=x -runonce -runonce_timeout=0", "-runonce_timeout longer than 0"},
		{"-config=x -max_restart_backoff=999ms", "-max_restart_backoff 1s"},
		{"-config=x -maximum_dead_containers_per_container=-1", "-maximum_dead_containers_per_container negative"},
		{"-config=x -minimum_container_ttl_duration=-1s", "-minimum_container_ttl_duration negative"},
		{"-config=x -registry_qps=-1", "-registry_qps negative"},
		{"-config=x -registry_burst=0", "-registry_burst 1"},
		{"-config=x -container_log_max_size=big", `-container_log_max_size big`},
		{"-config=x -container_log_max_size=-1", "-container_log_max_size"},
		{"-config=x -eviction_hard=memory.free<1Gi", `unknown signal "memory.free" memory.available`},
		{"-config=x -eviction_soft=memory.available<1Gi", "-eviction_soft_grace_period both"},
		{"-config=x -eviction_soft_grace_period=memory.available=1m", "-eviction_soft both"},
		{"-config=x -eviction_pressure_transition_period=-1s", "-eviction_pressure_transition_period negative"},
		{"-config=x -image_gc_high_threshold=70", "-image_gc_low_threshold -image_gc_high_threshold"},
		{"-config=x -image_gc_high_threshold=101", "-image_gc_high_threshold 100"},
		{"-config=x -image_gc_low_threshold=-1", "-image_gc_low_threshold 0"},
		{"-config=x -minimum_image_ttl_duration=-1s", "-minimum_image_ttl_duration negative"},
		{"-config=x -eviction_max_pod_grace_period=-1", "-eviction_max_pod_grace_period negative"},
		{"-config=x -container_log_max_files=0", "-container_log_max_files 1"},
		{"-config=x -tls_cert_file=c", "-tls_cert_file -tls_private_key_file"},
		{"-config=x -address=0.0.0.0", "-address=0.0.0.0 -tls_cert_file"},
		{"-config=x -port=65536", "-port=65536"},
		{"-config=x -cadvisor_port=-1", "-cadvisor_port"},
		{"-config=x -feature_gates=Evicton=true", `-feature_gates unknown gate "Evicton" did you mean "Eviction"?`},
		{"-config=x -feature_gates=NodeLogQuery=false", "-feature_gates locked"},
		{"-config=x -log_query_units=docker,*", "-log_query_units=docker,* give names without .service"},
		{"-config=x -log_query_units=docker.service,a", "-log_query_units without .service"},
		{"-status -enable_server=false", "-status -enable_server=false"},
		{"-status -port=0", "-status -port"},
		{"-config=x -etcd_status", "-etcd_status -etcd_servers -etcd_config"},
		{"-status -address=example.com", "-address=example.com"},
	} {
		f, err := Parse("v0", strings.Fields(test.args))
		flag.Set("log_dir", "") // it is one of glog's, and stays for the next parse
		if err == nil {
			t.Errorf("%q are taken: %+v", test.args, *f)
			continue
		}
		for word := range strings.FieldsSeq(test.want) {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("%q: the error does not contain %q: %v", test.args, word, err)
			}
		}
	}
}

func TestHelpListsEveryFlag(t *testing.T) {
	stdout := printed(t, "-h")
	words := strings.Fields(stdout)
	for _, flags := range []*flag.FlagSet{joined((&Options{}).topics()), flag.CommandLine} {
		flags.VisitAll(func(f *flag.Flag) {
			if !slices.Contains(words, "-"+f.Name) && !strings.HasPrefix(f.Name, "test.") {
				t.Errorf("-h does not list -%s:\n%s", f.Name, stdout)
			}
		})
	}
	if _, after, _ := strings.Cut(stdout, "-logtostderr"); !strings.Contains(after[:min(len(after), 200)], "default true") {
		t.Errorf("-h does not show that -logtostderr is the default:\n%s", stdout)
	}
}

func TestCompletion(t *testing.T) {
	const program = `kubelet14() { case "$*" in
help) printf '  kubelet14 ps         print\n  kubelet14 logs POD   print\n  kubelet14 check FILE…  print\n';;
"help logs") printf '  -c name\n        of\n  -runs\n    x\n';;
"ps -o name") printf 'web.default.file\ndb.default.file\n';;
*) exit 1;; esac; }
`
	script := program + printed(t, "-completion")
	for words, want := range map[string]string{
		"-runonce_": "-runonce_timeout=", "--root": "--root_dir=", "-dry-r": "-dry-run", "-run": "-runonce -runonce_timeout=", "manifests": "",
		"l": "logs", "p": "ps", "logs w": "web.default.file", "logs -f d": "db.default.file", "ps w": "", "check w": "",
		"logs -c": "-config= -config_file= -config_wait -completion -convert -cleanup -cadvisor_port= -container_log_max_files= -container_log_max_size= -c", "logs web --run": "--runonce --runonce_timeout= --runs",
	} {
		bash := exec.Command("bash", "-c", script+"\nCOMP_WORDS=(kubelet14 "+words+`); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _kubelet14; echo ${COMPREPLY[@]}`)
		out, _ := bash.Output() // compopt needs a terminal
		got := strings.Fields(string(out))
		slices.Sort(got)
		sorted := strings.Fields(want)
		if slices.Sort(sorted); !slices.Equal(got, sorted) {
			t.Errorf("bash completes %s with %q, want %q", words, got, sorted)
		}
	}
}
