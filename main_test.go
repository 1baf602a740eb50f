package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"kubelet14/kubelet/dockertools"
)

// asProgram makes the test binary be kubelet14 itself.
const asProgram = "KUBELET14_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// program runs kubelet14 with nothing but flags, and returns what it prints and
// its exit code.
func program(t *testing.T, args ...string) (stdout, stderr string, exit int) {
	t.Helper()
	var out, errs strings.Builder
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

func TestDefaults(t *testing.T) {
	got, err := parseFlags([]string{"-config=pods", "-hostname_override=host"})
	if err != nil {
		t.Fatal(err)
	}
	want := options{
		config:                "pods",
		hostname:              "host",
		rootDir:               "/var/lib/kubelet",
		networkContainerImage: dockertools.PauseImage,
		syncFrequency:         10 * time.Second,
		fileCheckFrequency:    20 * time.Second,
		httpCheckFrequency:    20 * time.Second,
		runonceTimeout:        5 * time.Minute,
		maxRestartBackoff:     time.Minute,
		maxDeadContainers:     2,
		registryBurst:         10,
		containerLogMaxSize:   10e6,
		containerLogMaxFiles:  3,

		enableServer: true, enableDebuggingHandlers: true, address: "127.0.0.1", port: 10250, cadvisorPort: 4194,
	}
	if !reflect.DeepEqual(*got, want) {
		t.Errorf("flags are\n%+v, want\n%+v", *got, want)
	}
}

func TestEveryFlagReachesItsOption(t *testing.T) {
	got, err := parseFlags([]string{
		"-config=pods", "-hostname_override=host", "-root_dir=root", "-docker_endpoint=unix:///sock",
		"-network_container_image=pause", "-allow_privileged", "-sync_frequency=1s", "-file_check_frequency=2s",
		"-manifest_url=http://web/pods", "-http_check_frequency=7s",
		"-runonce", "-runonce_timeout=3s", "-max_restart_backoff=4s",
		"-maximum_dead_containers_per_container=5", "-minimum_container_ttl_duration=6s",
		"-registry_qps=0.5", "-registry_burst=8", "-container_log_max_size=9KB", "-container_log_max_files=7",
		"-address=::1", "-port=1", "-enable_debugging_handlers=false", "-token_file=token", "-cadvisor_port=2",
		"-tls_cert_file=cert", "-tls_private_key_file=key",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := options{
		config: "pods", hostname: "host", rootDir: "root", dockerEndpoint: "unix:///sock",
		networkContainerImage: "pause", allowPrivileged: true, syncFrequency: time.Second, fileCheckFrequency: 2 * time.Second,
		manifestURL: "http://web/pods", httpCheckFrequency: 7 * time.Second,
		runonce: true, runonceTimeout: 3 * time.Second, maxRestartBackoff: 4 * time.Second,
		maxDeadContainers: 5, minContainerTTL: 6 * time.Second,
		registryQPS: 0.5, registryBurst: 8, containerLogMaxSize: 9000, containerLogMaxFiles: 7,
		enableServer: true, address: "::1", port: 1, tokenFile: "token", cadvisorPort: 2, tlsCertFile: "cert", tlsKeyFile: "key",
	}
	if !reflect.DeepEqual(*got, want) {
		t.Errorf("flags are\n%+v, want\n%+v", *got, want)
	}
}

func TestEtcdServersAreAddedUp(t *testing.T) {
	got, err := parseFlags([]string{"-etcd_servers=http://a:1, http://b:2", "-hostname_override=host", "-etcd-servers", "http://c:3"})
	if err != nil {
		t.Fatal(err)
	}
	if want := (servers{"http://a:1", "http://b:2", "http://c:3"}); !slices.Equal(got.etcdServers, want) {
		t.Errorf("got %q, want %q", got.etcdServers, want)
	}
}

// Each of these is enough, and -etcd_config is a path that nobody opens yet.
func TestOneSourceIsEnough(t *testing.T) {
	for _, source := range []string{"-config=x", "-manifest_url=http://x", "-etcd_servers=http://x:1", "-etcd_config=x"} {
		got, err := parseFlags([]string{source})
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if source == "-etcd_config=x" && got.etcdConfig != "x" {
			t.Errorf("%s: got %+v", source, *got)
		}
	}
}

func TestDashesMeanUnderscores(t *testing.T) {
	want := options{config: "a-b_c", hostname: "my-host", rootDir: "some-dir=x", runonce: true, runonceTimeout: time.Second}
	for _, args := range [][]string{
		{"--config=a-b_c", "--hostname-override=my-host", "--root-dir=some-dir=x", "--runonce", "--runonce-timeout=1s"},
		{"-config", "a-b_c", "-hostname-override", "my-host", "-root-dir", "some-dir=x", "-runonce", "-runonce-timeout", "1s"},
		{"-config=a-b_c", "-hostname_override=my-host", "--root_dir=some-dir=x", "-runonce=true", "-runonce_timeout=1s"},
	} {
		got, err := parseFlags(args)
		if err != nil {
			t.Errorf("%q: %v", args, err)
			continue
		}
		seen := options{config: got.config, hostname: got.hostname, rootDir: got.rootDir, runonce: got.runonce, runonceTimeout: got.runonceTimeout}
		if !reflect.DeepEqual(seen, want) {
			t.Errorf("%q give\n%+v, want\n%+v", args, seen, want)
		}
	}
}

func TestWhatCannotBeMeantIsRefused(t *testing.T) {
	for _, test := range []struct {
		name string
		args []string
		want []string // words of the error
	}{
		{"an unknown flag", []string{"-config=x", "-confg=y"}, []string{"not defined", "-confg"}},
		{"an unknown flag with dashes is named as it was written", []string{"-config=x", "--root-dirs=y"}, []string{"not defined", "root-dirs"}},
		{"an argument that is no flag", []string{"manifests"}, []string{`unexpected argument "manifests"`, "-config=manifests"}},
		{"an argument after the flags", []string{"-config=x", "-runonce", "y"}, []string{`unexpected argument "y"`}},
		{"nothing that says which pods to run", nil, []string{"-config"}},
		{"the same in one of the modes", []string{"-runonce"}, []string{"-config"}},
		{"no server", []string{"-etcd_servers="}, []string{"-etcd_servers", "value should not be an empty string"}},
		{"no server between commas", []string{"-etcd_servers=http://a:1,,http://b:1"}, []string{"-etcd_servers", "value should not be an empty string"}},
		{"two ways to etcd", []string{"-etcd_servers=http://a:1", "-etcd_config=x"}, []string{"-etcd_servers", "-etcd_config", "exclude"}},
		{"etcd once", []string{"-etcd_servers=http://a:1", "-runonce"}, []string{"-runonce", "etcd", "exclude"}},
		{"a configured etcd once", []string{"-config=x", "-etcd_config=x", "-runonce"}, []string{"-runonce", "etcd", "exclude"}},
		{"a frequency of 0 for the URL", []string{"-manifest_url=http://x", "-http_check_frequency=0"}, []string{"-http_check_frequency=0s", "longer than 0"}},
		{"two modes", []string{"-config=x", "-runonce", "-dry_run"}, []string{"-runonce", "-dry_run", "-cleanup", "exclude"}},
		{"two other modes", []string{"-config=x", "-dry-run", "-cleanup"}, []string{"-runonce", "-dry_run", "-cleanup", "exclude"}},
		{"a time without a unit", []string{"-config=x", "-sync_frequency=10"}, []string{"-sync_frequency", `"10"`}},
		{"a frequency of 0", []string{"-config=x", "-sync_frequency=0s"}, []string{"-sync_frequency=0s", "longer than 0"}},
		{"a negative frequency", []string{"-config=x", "-file_check_frequency=-1s"}, []string{"-file_check_frequency=-1s", "longer than 0"}},
		{"no time to run once", []string{"-config=x", "-runonce", "-runonce_timeout=0"}, []string{"-runonce_timeout=0s", "longer than 0"}},
		{"a back-off shorter than its first wait", []string{"-config=x", "-max_restart_backoff=999ms"}, []string{"-max_restart_backoff=999ms", "1s"}},
		{"fewer than no dead containers", []string{"-config=x", "-maximum_dead_containers_per_container=-1"}, []string{"-maximum_dead_containers_per_container", "negative"}},
		{"a negative age", []string{"-config=x", "-minimum_container_ttl_duration=-1s"}, []string{"-minimum_container_ttl_duration", "negative"}},
		{"no number", []string{"-config=x", "-maximum_dead_containers_per_container=few"}, []string{"-maximum_dead_containers_per_container", `"few"`}},
		{"a certificate without a key", []string{"-config=x", "-tls_cert_file=c"}, []string{"-tls_cert_file", "-tls_private_key_file"}},
		{"a server for the whole network", []string{"-config=x", "-address=0.0.0.0"}, []string{"-address=0.0.0.0", "-tls_cert_file"}},
		{"a server at a name", []string{"-config=x", "-address=example.com"}, []string{"-address=example.com", "IP address"}},
		{"a socket without a path", []string{"-config=x", "-address=unix:"}, []string{"unix:", "path"}},
		{"a port that is none", []string{"-config=x", "-port=65536"}, []string{"-port=65536"}},
		{"the port of a cAdvisor that is none", []string{"-config=x", "-cadvisor_port=-1"}, []string{"-cadvisor_port=-1"}},
		{"a status from nobody", []string{"-status", "-enable_server=false"}, []string{"-status", "-enable_server=false"}},
		{"a status from an unknown port", []string{"-status", "-port=0"}, []string{"-status", "-port"}},
		{"a status of a kubelet at a name", []string{"-status", "-address=example.com"}, []string{"-address=example.com"}},
		{"a status and a cleanup", []string{"-status", "-cleanup"}, []string{"-status", "-cleanup", "exclude"}},
		{"a directory for the log that is none", []string{"-config=x", "-log_dir=/no/such/directory"}, []string{"-log_dir=/no/such/directory", "make it first"}},
		{"a hostname that is none", []string{"-config=x", "-hostname_override=My_Host"}, []string{`"My_Host"`, "-hostname_override"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := parseFlags(test.args)
			if err == nil {
				t.Fatalf("%q are taken: %+v", test.args, *got)
			}
			for _, word := range test.want {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("%q: the error does not say %q: %v", test.args, word, err)
				}
			}
		})
	}
}

func TestLogDirHasTheLogToo(t *testing.T) {
	dir := t.TempDir()
	_, stderr, exit := program(t, "-cleanup", "-log_dir="+dir, "-root_dir="+t.TempDir(), "-hostname_override=nobody", "-docker_endpoint=unix:///no/such/socket")
	files, err := os.ReadDir(dir)
	if err != nil || exit != 1 {
		t.Fatalf("exit code %d, %v", exit, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(dir, file.Name()))
		if err == nil && strings.Contains(string(text), "/no/such/socket") && strings.Contains(stderr, "/no/such/socket") {
			return
		}
	}
	t.Errorf("the error is not in both, files %v and standard error:\n%s", files, stderr)
}

func TestSomeModesNeedNoConfig(t *testing.T) {
	for _, args := range [][]string{{"-cleanup"}, {"-status"}, {"-status", "-address=unix:/run/s", "-port=0"}} {
		if _, err := parseFlags(args); err != nil {
			t.Errorf("%q: %v", args, err)
		}
	}
}

// These ask for nobody's attention, and may run beside a kubelet that has the port.
func TestOnlyAKubeletThatStaysServes(t *testing.T) {
	for mode, want := range map[string]bool{"-v=0": true, "-enable_server=false": false, "-runonce": false, "-dry_run": false, "-cleanup": false, "-status": false} {
		f, err := parseFlags([]string{"-config=x", mode})
		if err != nil || f.serves() != want {
			t.Errorf("%s: serves is %v, want %v; %v", mode, !want, want, err)
		}
	}
}

func TestHostnameIsThatOfTheHost(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	f, err := parseFlags([]string{"-config=x"})
	if err != nil {
		t.Fatal(err)
	}
	if f.hostname != strings.ToLower(host) {
		t.Errorf("hostname is %q on host %q", f.hostname, host)
	}
}

func TestVersionIsPrintedWhateverElseIsAsked(t *testing.T) {
	for _, args := range [][]string{{"-version"}, {"--version", "-sync_frequency=0s", "-runonce", "-dry_run", "argument"}} {
		stdout, stderr, exit := program(t, args...)
		if exit != 0 || stdout != "kubelet14 "+version+"\n" || stderr != "" {
			t.Errorf("%q: exit code %d, prints %q and %q", args, exit, stdout, stderr)
		}
	}
}

func TestHelpListsEveryFlag(t *testing.T) {
	stdout, stderr, exit := program(t, "-h")
	if exit != 0 || stderr != "" {
		t.Errorf("exit code %d, on stderr %q", exit, stderr)
	}
	lines := strings.Split(stdout, "\n")
	for _, name := range []string{
		"config", "manifest_url", "http_check_frequency", "etcd_servers", "etcd_config", "sync_frequency", "file_check_frequency", "hostname_override", "network_container_image", "docker_endpoint",
		"root_dir", "allow_privileged", "runonce", "runonce_timeout", "maximum_dead_containers_per_container",
		"minimum_container_ttl_duration", "max_restart_backoff", "dry_run", "status", "cleanup", "version",
		"registry_qps", "registry_burst", "container_log_max_size", "container_log_max_files",
		"enable_server", "address", "port", "enable_debugging_handlers", "token_file", "tls_cert_file", "tls_private_key_file", "cadvisor_port",
		"v", "vmodule", "logtostderr", // of the log
	} {
		if !slices.ContainsFunc(lines, func(line string) bool {
			word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			word, _, _ = strings.Cut(word, "\t")
			return strings.HasPrefix(line, "  -") && word == "-"+name
		}) {
			t.Errorf("-h does not list -%s", name)
		}
	}
	// It would be false to say that the log goes to files.
	if _, after, _ := strings.Cut(stdout, "-logtostderr"); !strings.Contains(after[:min(len(after), 200)], "default true") {
		t.Errorf("-h does not say that -logtostderr is the default:\n%s", stdout)
	}
	if t.Failed() {
		t.Logf("it prints:\n%s", stdout)
	}
}

func TestWrongFlagsExitWith2(t *testing.T) {
	stdout, stderr, exit := program(t, "-config=x", "-confg=y")
	if exit != 2 || stdout != "" {
		t.Errorf("exit code %d, on stdout %q", exit, stdout)
	}
	if lines := strings.Split(strings.TrimSpace(stderr), "\n"); len(lines) != 2 || !strings.Contains(lines[0], "-confg") || !strings.Contains(lines[1], "kubelet14 -h") {
		t.Errorf("it does not say what is wrong and where help is, in two lines:\n%s", stderr)
	}
}
