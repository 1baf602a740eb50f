package words

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"kubelet14/api"
	"kubelet14/api/unittest"
)

func TestNoKubelet(t *testing.T) {
	h := newHost(t)
	h.process("/", "bash", "-c", "kubelet14 -config=x")
	h.process("/", "kubelet", "-config=x")
	h.process("/", "kubelet14", "ps")
	h.process("/", "kubelet14", "-config=x", "-runonce")
	h.process("/", "")
	h.kubelet(shop())
	if err := os.Chown(filepath.Join(h.proc, fmt.Sprint(h.pids)), 65534, -1); err != nil { // only root can do it
		h = newHost(t)
	}
	h.fails("ps", 1, "no kubelet14 runs on this host as root or as you: kubelet14 -config=DIRECTORY starts one")
	h.fails("ps -root_dir=/gone -address=unix:/gone/socket", 1, "ask the kubelet at unix:/gone/socket: no kubelet answers")
}

func TestTheKubeletIsFound(t *testing.T) {
	one, two := &fakeKubelet{statuses: []api.PodStatus{up("one", "default", "file")}}, &fakeKubelet{statuses: []api.PodStatus{up("two", "default", "file")}}
	h := newHost(t)
	dirOne := h.kubelet(one)
	h.prints("ps", "one.default.file")
	h.kubelet(one) // another
	h.fails("ps", 1, "2 kubelets run on this host: say which by its -root_dir", "\n  -root_dir="+dirOne, "pid 1, hostname ")
	h.prints("ps -root_dir="+dirOne, "one.default.file")

	// Relative paths are those of the kubelet, and relative flags those of the user.
	h = newHost(t)
	h.serve(two, "unix:"+filepath.Join(dirOne, "second"))
	unittest.Must(t, os.WriteFile(filepath.Join(dirOne, "kubelet.yaml"), []byte("apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"+
		"address: unix:"+dirOne+"/second\nstaticPodPath: pods\n"), 0o644))
	for range 2 { // the second one waits for the lock
		h.process(dirOne, "./kubelet14-new", "--root-dir", "root", "-config-file=kubelet.yaml", "-log_dir=logs", "-step", "-exit_on_lock_contention")
	}
	h.prints("ps", "two.default.file")
	h.prints("ps -config_file="+dirOne+"/kubelet.yaml", "two.default.file")
	h.prints("ps -root_dir="+dirOne+"/root", "two.default.file")
	h.prints("ps -config_file="+dirOne+"/kubelet.yaml -root_dir=/elsewhere", "two.default.file")                // which no kubelet has
	h.process("/", "kubelet14", "-config=x", "-root_dir=/other", "-tls_cert_file=a", "-tls_private_key_file=b") // which cannot be at a socket
	h.prints("ps -root_dir="+dirOne+"/root -address=unix:"+dirOne+"/second", "two.default.file")
	t.Chdir(dirOne)
	h.prints("ps -root_dir root", "two.default.file")
	h.fails("ps -port=http", 1, `-port: it takes a port`)

	h = newHost(t)
	h.process("/", "kubelet14", "-config_file=/gone.yaml")
	h.fails("ps", 1, "kubelet14: -config_file: open /gone.yaml: no such file")
	dirTwo := h.kubelet(two)
	h.prints("ps -root_dir="+dirTwo, "two.default.file")
	h.fails("ps", 1, "2 kubelets", "\n  pid 1, whose settings cannot be read: -config_file")
}

// A user may not see where the kubelet of root runs.
func TestAKubeletWhoseDirectoryIsHidden(t *testing.T) {
	h := newHost(t)
	h.process("/root", "kubelet14", "-config=pods", "-root_dir=root")
	cwd := filepath.Join(h.proc, "1", "cwd")
	unittest.Must(t, os.Remove(cwd), os.WriteFile(cwd, nil, 0o644)) // which is no link, and no directory
	h.fails("ps", 1, "kubelet14: not a directory")
	h.fails("ps -port=10", 1, "kubelet14: not a directory")
	h.kubelet(shop())
	h.fails("ps", 1, "2 kubelets", "pid 1, whose settings cannot be read: not a directory")
}

func TestAKubeletThatCannotBeAsked(t *testing.T) {
	h := newHost(t)
	h.process("/", "kubelet14", "-config=/pods", "-enable_server=false")
	h.fails("ps", 1, "which -enable_server=false turns off")
	h = newHost(t)
	h.process("/", "kubelet14", "-config=/pods", "-port=0")
	h.fails("ps", 1, "need the -port: the kubelet picked one, which is in its log")
	h.fails("ps -port=1", 1, "http://127.0.0.1:1: no kubelet answers")
}
