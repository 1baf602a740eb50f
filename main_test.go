package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"kubelet14/api/unittest"
	"kubelet14/kubelet/options"
)

// asProgram makes the test binary run as kubelet14.
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

func TestLogDirHasTheLogToo(t *testing.T) {
	const socket = "/no/such/socket"
	for _, dir := range []string{t.TempDir(), "/proc"} { // no file can be made in /proc
		_, stderr, exit := program(t, "-cleanup", "-etcd_config=/gone", "-log_dir="+dir, "-root_dir="+t.TempDir(), "-docker_endpoint=unix://"+socket)
		files, _ := filepath.Glob(dir + "/kubelet14.*.log.INFO.*")
		text := ""
		for _, file := range files {
			data, _ := os.ReadFile(file)
			info, err := os.Stat(file)
			unittest.Must(t, err)
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

func TestConfigThatDoesNotExist(t *testing.T) {
	_, stderr, exit := program(t, "-config=/no/such\x1bpath", "-root_dir="+t.TempDir()) // what is logged is printable
	if exit != 1 || !strings.HasPrefix(stderr, "kubelet14: -config=/no/such?path does not exist: make it, or give -config_wait") {
		t.Errorf("exit code %d, %q", exit, stderr)
	}
	_, stderr, _ = program(t, "-config=/no/such/path", "-config_wait", "-runonce", "-runonce_timeout=1ms", "-root_dir="+t.TempDir())
	if strings.Contains(stderr, "-config_wait") || !strings.Contains(stderr, "-runonce_timeout of 1ms has passed") {
		t.Errorf("with -config_wait: %q", stderr)
	}
}

// The first command of a user who is not root.
func TestARootDirThatMayNotBeMade(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, 0o555)); err != nil {
		t.Fatal(err)
	}
	f, err := options.Parse(version, []string{"-config=" + dir, "-root_dir=" + filepath.Join(dir, "root")})
	unittest.Must(t, err)
	runtime.LockOSThread() // root would make it: this thread is another user to files
	defer runtime.UnlockOSThread()
	syscall.Setfsuid(65534)
	defer syscall.Setfsuid(os.Geteuid())
	err = run(t.Context(), f)
	if err == nil || !strings.Contains(err.Error(), "permission denied: give a directory of your own, such as -root_dir=$HOME/kubelet14") {
		t.Errorf("got %v, want what to do", err)
	}
}

func TestVersionIsPrintedWhateverElseIsAsked(t *testing.T) {
	stdout, stderr, exit := program(t, "--version", "-sync_frequency=0s", "-runonce", "-dry_run", "argument")
	if exit != 0 || stdout != "kubelet14 "+version+"\n" || stderr != "" {
		t.Errorf("exit code %d, prints %q and %q", exit, stdout, stderr)
	}
}

// On a full disk the table cannot be printed, even if the pod is up.
func TestStatusThatCannotBePrinted(t *testing.T) {
	infoServer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "POD ") }))
	defer infoServer.Close()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	unittest.Must(t, err)
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

func TestFileOfSettings(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kubelet.yaml")
	for _, test := range []struct {
		text string
		exit int
		want string
	}{
		{"maxPods: 7\nclusterDNS: [10.0.0.1]\nstaticPodPath: /no/such/path\n", 1, "] settings come from " + path + "; its fields that mean nothing here: maxPods, clusterDNS\n"},
		{"staticPodPth: /pods\n", 2, "kubelet14: " + path + `:3:1: staticPodPth: unknown field: did you mean "staticPodPath"?
  1 | kind: KubeletConfiguration
  2 | apiVersion: kubelet.config.k8s.io/v1beta1
> 3 | staticPodPth: /pods
    | ^
kubelet14 -h lists the flags
`},
	} {
		unittest.Must(t, os.WriteFile(path, []byte("kind: KubeletConfiguration\napiVersion: kubelet.config.k8s.io/v1beta1\n"+test.text), 0o644))
		_, stderr, exit := program(t, "-runonce", "-config_file="+path, "-root_dir="+t.TempDir())
		if exit != test.exit || !strings.Contains(stderr, test.want) {
			t.Errorf("exit code %d, want %d; %q, want %q", exit, test.exit, stderr, test.want)
		}
	}
}

// The program of this test does not end after the first signal.
func TestSecondSignalEndsAtOnce(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asProgram+"=that waits")
	out, err := cmd.StdoutPipe()
	unittest.Must(t, err)
	unittest.Must(t, cmd.Start())
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
