package etcdtest

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"kubelet14/api/unittest"
)

// Server is an etcd that ends with its test. It has the same address and the same
// data directory however often it is killed and started again. All methods are for
// the test's goroutine.
type Server struct {
	// TLS has the files for a client; nil without TLS.
	TLS *TLS

	clientCerts, defaults bool // see Settings

	tb      testing.TB
	name    string
	dir     string        // has the data and the log
	client  string        // URL for clients
	peer    string        // URL for other members
	members string        // NAME=PEER,... of the cluster
	token   string        // of the cluster
	auth    bool          // there are users
	cmd     *exec.Cmd     // nil before the first start
	ended   chan struct{} // closed when cmd has ended
}

// Start starts an etcd and returns when it answers.
func Start(tb testing.TB) *Server {
	tb.Helper()
	s := newServer(tb, "http", "etcd")
	s.members = s.name + "=" + s.peer
	s.Restart()
	return s
}

// newServer returns a server that is yet to be told its cluster's members.
func newServer(tb testing.TB, scheme, name string) *Server {
	tb.Helper()
	s := &Server{
		tb:     tb,
		name:   name,
		dir:    tb.TempDir(),
		client: scheme + "://" + ReserveAddress(tb),
		peer:   "http://" + ReserveAddress(tb),
		token:  "first",
	}
	tb.Cleanup(func() {
		if s.cmd != nil {
			s.Kill()
		}
		if tb.Failed() {
			tb.Logf("log of %s at %s:\n%s", name, s.client, s.log())
		}
	})
	return s
}

// Endpoint returns the server's URL, such as http://127.0.0.1:23790.
func (s *Server) Endpoint() string { return s.client }

// Restart starts a server that was killed, with the data that it had.
func (s *Server) Restart() {
	s.tb.Helper()
	s.launch()
	s.AwaitHealth()
}

// RestartEmpty starts a server that was killed without its data, as another cluster:
// it has another cluster id.
func (s *Server) RestartEmpty() {
	s.tb.Helper()
	s.token += "+" // etcd makes the id of the members' peer URLs and this token
	s.RestartEmptySameID()
}

// RestartEmptySameID is RestartEmpty with the same cluster id, as when somebody has
// removed the data directory and started etcd with the flags that it always had.
func (s *Server) RestartEmptySameID() {
	s.tb.Helper()
	unittest.Must(s.tb, os.RemoveAll(s.data()))
	s.auth = false // the users were data too
	s.Restart()
}

// Backup writes a backup of the data to a file and returns its path.
func (s *Server) Backup() string {
	s.tb.Helper()
	path := filepath.Join(s.tb.TempDir(), "backup")
	s.Ctl("snapshot", "save", path)
	return path
}

// Restore starts a server that was killed with the data of a backup, as the same cluster, in the
// way that etcd's documentation tells.
func (s *Server) Restore(backup string) {
	s.tb.Helper()
	dir, err := binaries()
	unittest.Must(s.tb, err)
	unittest.Must(s.tb, os.RemoveAll(s.data()))
	cmd := exec.Command(filepath.Join(dir, "etcdutl"), "snapshot", "restore", backup, "--bump-revision=1000000", "--mark-compacted",
		"--data-dir="+s.data(), "--name="+s.name, "--initial-cluster="+s.members, "--initial-cluster-token="+s.token,
		"--initial-advertise-peer-urls="+s.peer)
	if output, err := cmd.CombinedOutput(); err != nil {
		s.tb.Fatalf("etcdutl snapshot restore: %v\n%s", err, output)
	}
	s.Restart()
}

// Kill ends the server with SIGKILL, also a paused one.
func (s *Server) Kill() {
	s.cmd.Process.Kill()
	<-s.ended
}

// Pause stops the server with SIGSTOP: it takes connections and never answers.
func (s *Server) Pause() { s.signal(syscall.SIGSTOP) }

// Resume lets a server go on that was paused.
func (s *Server) Resume() { s.signal(syscall.SIGCONT) }

func (s *Server) signal(signal syscall.Signal) {
	s.tb.Helper()
	unittest.Must(s.tb, s.cmd.Process.Signal(signal))
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// launch starts the process.
func (s *Server) launch() {
	s.tb.Helper()
	dir, err := binaries()
	unittest.Must(s.tb, err)
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	unittest.Must(s.tb, err)
	defer log.Close()
	cmd := exec.Command(filepath.Join(dir, "etcd"),
		"--name="+s.name, "--data-dir="+s.data(), "--log-level=warn",
		"--listen-client-urls="+s.client, "--advertise-client-urls="+s.client,
		"--listen-peer-urls="+s.peer, "--initial-advertise-peer-urls="+s.peer,
		"--initial-cluster="+s.members, "--initial-cluster-token="+s.token)
	if !s.defaults {
		cmd.Args = append(cmd.Args,
			// Elect soon, and allow leases of one second: the least is 1.5 elections.
			"--heartbeat-interval=50", "--election-timeout=500",
			// Data survives a SIGKILL without it, and hashes are no test's subject.
			"--unsafe-no-fsync", "--bcrypt-cost=4")
	}
	cmd.Args = append(cmd.Args, s.tlsFlags()...)
	cmd.Env = []string{} // no ETCD_ variable
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var files syscall.Rlimit // Go raises its own, and passes it on only when it is set
	unittest.Must(s.tb, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files))
	unittest.Must(s.tb, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &files))
	unittest.Must(s.tb, cmd.Start())
	ended := make(chan struct{})
	s.cmd, s.ended = cmd, ended
	go func() {
		cmd.Wait()
		close(ended)
	}()
}

// AwaitHealth waits until the server answers and its cluster has a leader. Of a
// cluster that has just lost its leader the others need this before the next put:
// they would pass it to the dead one, and it would fail after five seconds.
func (s *Server) AwaitHealth() {
	s.tb.Helper()
	client := s.http()
	deadline := time.After(unittest.Limit())
	for {
		answer, err := client.Get(s.client + "/health")
		if err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return
			}
			err = fmt.Errorf("it answers %s", answer.Status)
		}
		select {
		case <-s.ended:
			s.tb.Fatalf("etcd at %s has ended", s.client)
		case <-deadline:
			s.tb.Fatalf("etcd at %s is not healthy: %v", s.client, err)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// http returns a client for what the server tells beside its gRPC.
func (s *Server) http() *http.Client {
	return &http.Client{
		Transport: &http.Transport{TLSClientConfig: s.TLS.config(), DisableKeepAlives: true},
		Timeout:   10 * time.Second,
	}
}

// log returns the last lines that the server has written.
func (s *Server) log() string {
	text, err := os.ReadFile(filepath.Join(s.dir, "log"))
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(string(text), "\n")
	return strings.Join(lines[max(0, len(lines)-40):], "\n")
}
