package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"kubelet14/api/validation"
	"kubelet14/kubelet"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/plan"
	"kubelet14/kubelet/server"
)

// asProgram makes the test binary be kubelet14 itself.
const asProgram = "KUBELET14_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	switch os.Getenv(asProgram) {
	case "":
		os.Exit(m.Run())
	case "that waits":
		waitForSignals()
	default:
		main()
	}
}

// waitForSignals is a program that the first signal does not end.
func waitForSignals() {
	ctx, stop := untilSignal()
	defer stop()
	fmt.Println("ready")
	<-ctx.Done()
	fmt.Println("first signal")
	time.Sleep(time.Minute)
}

// program runs kubelet14, and returns what it prints and its exit code.
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

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func parse(t *testing.T, args ...string) *options {
	t.Helper()
	f, err := parseFlags(args)
	if err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	return f
}

func TestDefaults(t *testing.T) {
	root := filepath.Join(t.TempDir(), "root")
	want := options{
		config: "pods", rootDir: root, fileCheckFrequency: 20 * time.Second, httpCheckFrequency: 20 * time.Second,
		runonceTimeout: 5 * time.Minute, enableServer: true,
		kubelet: kubelet.Options{
			Identity:              dockertools.Identity{Hostname: "host", RootDir: root},
			NetworkContainerImage: dockertools.PauseImage,
			SyncFrequency:         10 * time.Second, Limits: plan.Limits{MaxBackoff: time.Minute, MaxDeadContainers: 2},
			RegistryBurst: 10, ContainerLog: dockertools.LogLimit{MaxSize: 10e6, MaxFiles: 3},
		},
		server: server.Options{Address: "127.0.0.1", Port: 10250, TokenFile: root + "/token", Debugging: true, CAdvisorPort: 4194},
	}
	if got := parse(t, "-config=pods", "-hostname_override=host", "-root_dir="+root); !reflect.DeepEqual(*got, want) {
		t.Errorf("flags are\n%+v, want\n%+v", *got, want)
	}
	name, err := os.Hostname()
	must(t, err)
	f := parse(t, "-config=x", "-container_log_max_size=0")
	if f.rootDir != "/var/lib/kubelet" || f.kubelet.Identity.Hostname != strings.ToLower(name) {
		t.Errorf("root_dir %s, hostname %s on host %s", f.rootDir, f.kubelet.Identity.Hostname, name)
	}
	if f.kubelet.ContainerLog != (dockertools.LogLimit{}) {
		t.Errorf("a log size of 0 is the limit %+v, want none", f.kubelet.ContainerLog)
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
		"-tls_cert_file=cert", "-tls_private_key_file=key",
	}
	want := options{
		config: "a-b_c", rootDir: "/ro-ot", dockerEndpoint: "unix:///sock", fileCheckFrequency: 2 * time.Second,
		manifestURL: "http://web/pods", httpCheckFrequency: 7 * time.Second, runonce: true, runonceTimeout: 3 * time.Second,
		tokenFile: "token", tlsCertFile: "cert", tlsKeyFile: "key",
		kubelet: kubelet.Options{
			Identity:              dockertools.Identity{Hostname: "my-host", RootDir: "/ro-ot"},
			NetworkContainerImage: "pause", SyncFrequency: time.Second,
			Limits:      plan.Limits{PodNetwork: "bridge", MaxBackoff: 4 * time.Second, MaxDeadContainers: 5, MinDeadAge: 6 * time.Second},
			RegistryQPS: 0.5, RegistryBurst: 8, ContainerLog: dockertools.LogLimit{MaxSize: 9000, MaxFiles: 7},
		},
		rules:  validation.Rules{AllowPrivileged: true},
		server: server.Options{Address: "::1", Port: 1, TokenFile: "token", CAdvisorPort: 2},
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
	if want := []string{"http://a:1", "http://b:2", "http://c:3"}; !slices.Equal(f.etcdServers, want) {
		t.Errorf("etcd servers are %q, want %q", f.etcdServers, want)
	}
	// Each of these is enough. Nothing is opened yet.
	for _, source := range strings.Fields("-config=x -manifest_url=http://x -etcd_servers=http://x:1 -etcd_config=x -cleanup -status") {
		parse(t, source)
	}
	parse(t, "-status", "-address=unix:/run/s", "-port=0")
	parse(t, "-status", "-etcd_config=x", "-port=0", "-enable_server=false", "-etcd_status", "-address=0.0.0.0") // which need no info server
}

// A kubelet that does not stay may run beside one that has the port.
func TestOnlyAKubeletThatStaysServes(t *testing.T) {
	for mode, want := range map[string]bool{
		"-v=0": true, "-enable_server=false": false, "-runonce": false, "-dry_run": false, "-convert": false, "-cleanup": false, "-status=false": true,
	} {
		if got := parse(t, "-config=x", mode).serves(); got != want {
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
		{"status", "unexpected argument status did you mean -status?"},
		{"-config=x stop web", "did you mean -cleanup?"},
		{"-config=x -logs", "unknown flag -logs did you mean -status?"},
		{"-config=x --ps", "unknown flag did you mean -status?"},
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
		{"-config=x -container_log_max_files=0", "-container_log_max_files 1"},
		{"-config=x -tls_cert_file=c", "-tls_cert_file -tls_private_key_file"},
		{"-config=x -address=0.0.0.0", "-address=0.0.0.0 -tls_cert_file"},
		{"-config=x -port=65536", "-port=65536"},
		{"-config=x -cadvisor_port=-1", "-cadvisor_port"},
		{"-status -enable_server=false", "-status -enable_server=false"},
		{"-status -port=0", "-status -port"},
		{"-config=x -etcd_status", "-etcd_status -etcd_servers -etcd_config"},
		{"-status -address=example.com", "-address=example.com"},
	} {
		f, err := parseFlags(strings.Fields(test.args))
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

func TestLogDirHasTheLogToo(t *testing.T) {
	const socket = "/no/such/socket"
	for _, dir := range []string{t.TempDir(), "/proc"} { // no file can be made in /proc
		_, stderr, exit := program(t, "-cleanup", "-etcd_config=/gone", "-log_dir="+dir, "-root_dir="+t.TempDir(), "-docker_endpoint=unix://"+socket)
		files, _ := filepath.Glob(dir + "/kubelet14.*.log.INFO.*")
		text := ""
		for _, file := range files {
			data, _ := os.ReadFile(file)
			info, err := os.Stat(file)
			must(t, err)
			if text += string(data); info.Mode()&0o007 != 0 {
				t.Errorf("every user may read the log: %v", info.Mode())
			}
		}
		if exit != 1 || !strings.Contains(stderr, socket) || strings.Contains(text, socket) != (dir != "/proc") {
			t.Errorf("exit code %d; the error is not in both, %d files of %s %q and standard error %q", exit, len(files), dir, text, stderr)
		}
		if strings.Contains(stderr, "-log_dir: open /proc/") != (dir == "/proc") {
			t.Errorf("with -log_dir=%s standard error is %q", dir, stderr)
		}
	}
}

// A full disk costs the lines that do not fit, and one message.
func TestLogOnAFullDisk(t *testing.T) {
	var stderr strings.Builder
	log := &logWriter{stderr: &stderr, path: "/dev/full"}
	for range 3 {
		if n, err := log.Write([]byte("line\n")); n != 5 || err != nil {
			t.Errorf("it writes %d bytes, %v", n, err)
		}
	}
	text := stderr.String()
	if strings.Count(text, "line\n") != 3 || strings.Count(text, "no space left on device; until that is mended") != 1 {
		t.Errorf("standard error has %q", text)
	}
}

func TestConfigThatDoesNotExist(t *testing.T) {
	_, stderr, exit := program(t, "-config=/no/such\x1bpath", "-root_dir="+t.TempDir()) // what is logged is printable
	if exit != 1 || !strings.HasPrefix(stderr, "kubelet14: -config=/no/such?path does not exist: make it, or give -config_wait") {
		t.Errorf("exit code %d, %q", exit, stderr)
	}
	_, stderr, _ = program(t, "-config=/no/such/path", "-config_wait", "-runonce", "-runonce_timeout=1ms", "-root_dir="+t.TempDir())
	if strings.Contains(stderr, "-config_wait") {
		t.Errorf("with -config_wait: %q", stderr)
	}
}

// The first command of a user who is not root.
func TestARootDirThatMayNotBeMade(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, 0o555)); err != nil {
		t.Fatal(err)
	}
	f := parse(t, "-cleanup", "-root_dir="+filepath.Join(dir, "root"))
	runtime.LockOSThread() // root would make it: this thread is another user to files
	defer runtime.UnlockOSThread()
	syscall.Setfsuid(65534)
	defer syscall.Setfsuid(os.Geteuid())
	err := run(t.Context(), f)
	if err == nil || !strings.Contains(err.Error(), "permission denied: give a directory of your own, such as -root_dir=$HOME/kubelet14") {
		t.Errorf("got %v, want what to do", err)
	}
}

func TestCompletion(t *testing.T) {
	script, _, exit := program(t, "-completion")
	for word, want := range map[string]string{
		"-runonce_": "-runonce_timeout=", "--root": "--root_dir=", "-dry-r": "-dry-run", "-run": "-runonce -runonce_timeout=", "manifests": "",
	} {
		bash := exec.Command("bash", "-c", script+"\nCOMP_WORDS=(kubelet14 "+word+"); COMP_CWORD=1; _kubelet14; echo ${COMPREPLY[@]}")
		if out, _ := bash.Output(); exit != 0 || string(out) != want+"\n" { // compopt needs a terminal
			t.Errorf("exit code %d; bash completes %s with %q", exit, word, out)
		}
	}
}

func TestVersionIsPrintedWhateverElseIsAsked(t *testing.T) {
	stdout, stderr, exit := program(t, "--version", "-sync_frequency=0s", "-runonce", "-dry_run", "argument")
	if exit != 0 || stdout != "kubelet14 "+version+"\n" || stderr != "" {
		t.Errorf("exit code %d, prints %q and %q", exit, stdout, stderr)
	}
}

func TestHelpListsEveryFlag(t *testing.T) {
	stdout, stderr, exit := program(t, "-h")
	if exit != 0 || stderr != "" {
		t.Errorf("exit code %d, on stderr %q", exit, stderr)
	}
	words := strings.Fields(stdout)
	for _, flags := range []*flag.FlagSet{(&options{}).define(), flag.CommandLine} {
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

// The table of a pod that is up is of no use on a full disk.
func TestStatusThatCannotBePrinted(t *testing.T) {
	infoServer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "POD ") }))
	defer infoServer.Close()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	must(t, err)
	defer full.Close()
	cmd := exec.Command(os.Args[0], "-status", "-port="+infoServer.URL[strings.LastIndex(infoServer.URL, ":")+1:])
	cmd.Env, cmd.Stdout = append(os.Environ(), asProgram+"=1"), full
	if cmd.Run(); cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("it ends with %v", cmd.ProcessState)
	}
}

func TestWrongFlagsExitWith2(t *testing.T) {
	stdout, stderr, exit := program(t, "-config=x", "-confg=y")
	if lines := strings.Split(strings.TrimSpace(stderr), "\n"); exit != 2 || stdout != "" || len(lines) != 2 ||
		!strings.Contains(lines[0], "-confg") || !strings.Contains(lines[1], "kubelet14 -h") {
		t.Errorf("exit code %d, stdout %q; want what is wrong and where help is, in two lines:\n%s", exit, stdout, stderr)
	}
}

// The program in this test does not end by itself after the first signal.
func TestSecondSignalEndsAtOnce(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asProgram+"=that waits")
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	lines := bufio.NewReader(out)
	for _, want := range []string{"ready\n", "first signal\n"} {
		if got, _ := lines.ReadString('\n'); got != want {
			t.Fatalf("it prints %q, want %q", got, want)
		}
		cmd.Process.Signal(syscall.SIGHUP) // does nothing
		cmd.Process.Signal(syscall.SIGTERM)
	}
	go func() { // the signal above may have come while the first was handled
		for cmd.Process.Signal(syscall.SIGTERM) == nil {
			time.Sleep(10 * time.Millisecond)
		}
	}()
	if cmd.Wait(); cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGTERM {
		t.Errorf("it ended with %v, want: by SIGTERM", cmd.ProcessState)
	}
}
