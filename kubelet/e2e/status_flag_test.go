package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// awaitStatus waits until -status exits with a code and prints some words.
func (h *host) awaitStatus(exit int, words []string, flags ...string) {
	h.t.Helper()
	h.await(fmt.Sprintf("-status exits with %d and prints %q", exit, words), func() error {
		r := h.run(append([]string{"-status"}, flags...)...)
		if err := hasWords(r.stdout+r.stderr, words); r.exit != exit || err != nil {
			return fmt.Errorf("exit %d, %v\n%s%s", r.exit, err, r.stdout, r.stderr)
		}
		return nil
	})
}

func TestIntegrationStatus(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.run("-status").mustExit(t, 1, "unix:"+h.socket, "no kubelet answers")
	h.writeSleepers("good")
	p := h.start()
	p.awaitUp("good")
	h.awaitStatus(0, []string{"good.default.file", "running", "main"})
	h.write("bad", job("bad", `/hello, exit, "3"`))
	h.awaitStatus(1, []string{"bad.default.file", "failed", "terminated", "Error (exit code 3)", "1 of 2 pods"})
	h.remove("bad")
	h.write("typo", strings.Replace(sleeper("typo"), "image", "imgae", 1))
	h.awaitStatus(1, []string{"good.default.file", "running", "failing since", "typo.yaml:4:18: containers[0].imgae"})
	h.remove("typo")
	h.awaitStatus(0, []string{"good.default.file", "running"})
	p.kill()
	h.run("-status").mustExit(t, 1, "unix:"+h.socket, "no kubelet answers")
}
