package main

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
)

// The table goes to stdout, what is wrong to stderr, and the exit code is 0 when nothing is.
func TestStatusPrintsTheTable(t *testing.T) {
	const table = "source http: 2 pods\nPOD CONTAINER\nweb\n"
	for name, test := range map[string]struct {
		code         int
		body, stderr string
	}{
		"all is well":   {http.StatusOK, table, ""},
		"a pod is down": {http.StatusServiceUnavailable, table + "\n1 of 2 pods are not up", "1 of 2 pods are not up"},
	} {
		listener := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(test.code)
			io.WriteString(w, test.body)
		}))
		stdout, stderr, exit := program(t, "-status", "-port="+strconv.Itoa(listener.Listener.Addr().(*net.TCPAddr).Port))
		listener.Close()
		if stdout != table || (exit == 0) != (test.stderr == "") || exit > 1 || !strings.HasSuffix(strings.TrimSpace(stderr), test.stderr) {
			t.Errorf("%s: exit code %d, stdout %q, stderr %q", name, exit, stdout, stderr)
		}
	}
}
