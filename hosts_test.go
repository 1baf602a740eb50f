package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"kubelet14/api/unittest"
	"kubelet14/config/etcdtest"
)

func TestStatusOfAllHostsInEtcd(t *testing.T) {
	t.Parallel()
	etcd := etcdtest.Start(t)
	servers := "-etcd_servers=" + etcd.Endpoint()
	start := func(host string, flags ...string) (stop func()) {
		t.Helper()
		cmd := exec.Command(os.Args[0], append(flags, servers, "-hostname_override="+host, "-root_dir="+t.TempDir(), "-enable_server=false",
			"-docker_endpoint=unix:///no/such/socket")...)
		cmd.Env = append(os.Environ(), asProgram+"=1")
		unittest.Must(t, cmd.Start())
		stop = func() {
			cmd.Process.Signal(syscall.SIGTERM)
			cmd.Wait()
		}
		t.Cleanup(stop)
		return stop
	}
	// await prints the table until a line of it begins with words. Before it does so again, it does something else.
	await := func(words string, meanwhile ...func()) (table, stderr string, exit int) {
		t.Helper()
		unittest.Await(t, func() error {
			table, stderr, exit = program(t, "-status", servers)
			for line := range strings.Lines(table) {
				if strings.HasPrefix(strings.Join(strings.Fields(line), " "), words) {
					return nil
				}
			}
			for _, do := range meanwhile {
				do()
			}
			return fmt.Errorf("no line begins with %q:\n%s%s", words, table, stderr)
		})
		return table, stderr, exit
	}
	if table, stderr, exit := program(t, "-status", servers); table != "" || exit != 1 || !strings.Contains(stderr, "give them -etcd_status") {
		t.Errorf("without any host, -status prints %q, %q and exits with %d", table, stderr, exit)
	}
	start("quiet-1")
	start("quiet-2")
	stop := start("host-1", "-etcd_status")
	table, stderr, exit := await("host-1 unhealthy - 0 of 0 ")
	if exit != 1 || !strings.Contains(table, version+"  ") || !strings.Contains(table, "Docker") ||
		!strings.Contains(stderr, "kubelet14: not as they should be: 1 of 1 host; the table says why") {
		t.Errorf("it exits with %d and prints\n%s%s", exit, table, stderr)
	}
	stop()
	await("host-1 stopped ", func() { // on a busy machine a stop can run out of its time
		stop := start("host-1", "-etcd_status")
		await("host-1 unhealthy ")
		stop()
	})
	start("host-1", "-etcd_status")
	await("host-1 unhealthy ")
	if keys := etcd.Ctl("get", "--prefix", "--keys-only", "/registry/"); strings.Contains(keys, "quiet") {
		t.Errorf("without -etcd_status etcd has the keys\n%s", keys)
	}
	etcd.Ctl("put", "/registry/minions/host-1", `{"health":"ok","up":1,"total":1}`)
	if table, stderr, exit := program(t, "-status", servers); exit != 0 {
		t.Errorf("when all is well, -status exits with %d and prints\n%s%s", exit, table, stderr)
	}
	watch := exec.Command(os.Args[0], "-status", "-watch", servers)
	watch.Env = append(os.Environ(), asProgram+"=1")
	out, err := watch.StdoutPipe()
	unittest.Must(t, err)
	unittest.Must(t, watch.Start())
	lines := bufio.NewScanner(out)
	for _, words := range []string{"host-1 up - 1 of 1 ", "host-1 up - 3 of 3 "} {
		for !strings.HasPrefix(strings.Join(strings.Fields(lines.Text()), " "), words) {
			if !lines.Scan() {
				t.Fatalf("-watch ends without a line like %q", words)
			}
		}
		etcd.Ctl("put", "/registry/minions/host-1", `{"health":"ok","up":3,"total":3}`)
	}
	unittest.Must(t, watch.Process.Signal(syscall.SIGTERM))
	if err := watch.Wait(); err != nil {
		t.Errorf("after a signal -watch ends with %v", err)
	}
	etcd.EnableAuth("host-1")
	if _, stderr, exit := program(t, "-status", servers); exit != 1 || !strings.Contains(stderr, "this etcd wants a user") {
		t.Errorf("without rights -status exits with %d and prints %s", exit, stderr)
	}
}

// The certificates of this test are good for a day.
func TestCertificatesThatExpireSoon(t *testing.T) {
	t.Parallel()
	etcd := etcdtest.Settings{Members: 1, Certificates: true}.Start(t)
	file := filepath.Join(t.TempDir(), "etcd.yaml")
	unittest.Must(t, os.WriteFile(file, []byte(etcd.ClientFile("host-1")), 0o600))
	cert, key := etcd[0].TLS.Client("info")
	server := []string{"-root_dir=" + t.TempDir(), "-tls_cert_file=" + cert, "-tls_private_key_file=" + key}
	cmd := exec.Command(os.Args[0], append(server, "-port=0", "-etcd_config="+file, "-etcd_status", "-hostname_override=host-1",
		"-docker_endpoint=unix:///no/such/socket")...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	log, err := cmd.StderrPipe()
	unittest.Must(t, err)
	unittest.Must(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	port, logged := "", map[string]bool{}
	warning := regexp.MustCompile(`the certificate of the (.*) expires at 2.*: renew it and restart the kubelet`)
	lines := bufio.NewScanner(log)
	for (port == "" || len(logged) < 2) && lines.Scan() {
		if at := regexp.MustCompile(`info server at https://127.0.0.1:(\d+)/`).FindStringSubmatch(lines.Text()); at != nil {
			port = at[1]
		}
		if w := warning.FindStringSubmatch(lines.Text()); w != nil {
			logged[w[1]] = true
		}
	}
	go io.Copy(io.Discard, log)
	if !logged["etcd client"] || !logged["info server"] {
		t.Errorf("the log warns of %v", logged)
	}
	if table, _, _ := program(t, append(server, "-status", "-port="+port)...); len(warning.FindAllString(table, -1)) != 2 {
		t.Errorf("-status prints\n%s", table)
	}
	unittest.Await(t, func() error {
		table, _, _ := program(t, "-status", "-etcd_config="+file)
		if w := warning.FindStringSubmatch(table); w == nil || w[1] != "kubelet" {
			return fmt.Errorf("the table of all hosts is\n%s", table)
		}
		return nil
	})
}
