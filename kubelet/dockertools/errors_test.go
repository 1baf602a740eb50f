package dockertools

import (
	"testing"

	"kubelet14/api"
)

// TestStartFailure reads what Docker 20.10 reports.
func TestStartFailure(t *testing.T) {
	const oci = "API error (400): failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: "
	for _, tt := range []struct{ text, reason, message string }{
		{oci + `exec: "/no": stat /no: no such file or directory: unknown`, api.ReasonCommandNotFound,
			`could not start: API error (400): exec: "/no": stat /no: no such file or directory`},
		{oci + `exec: "no": executable file not found in $PATH: unknown`, api.ReasonCommandNotFound,
			`could not start: API error (400): exec: "no": executable file not found in $PATH`},
		{oci + `exec: "/etc": permission denied: unknown`, api.ReasonCommandNotFound,
			`could not start: API error (400): exec: "/etc": permission denied`},
		{oci + `error mounting "/d": stat /d: no such file or directory: unknown`, api.ReasonCannotStart,
			`could not start: API error (400): error mounting "/d": stat /d: no such file or directory`},
		{"Bind for 0.0.0.0:80 failed: port is already allocated", api.ReasonPortTaken,
			"could not start: another container has the host port 80; `docker ps --filter publish=80` shows it; if there is none, a restart of Docker frees the port"},
		{"listen tcp4 0.0.0.0:80: bind: address already in use", api.ReasonPortTaken,
			"could not start: address already in use: a program of this host has the port 80; `ss -lntup` shows it"},
		{"the moon is full", api.ReasonCannotStart, "could not start: the moon is full"},
	} {
		if reason, message := StartFailure(tt.text); reason != tt.reason || message != tt.message {
			t.Errorf("%s:\n got %s: %s\nwant %s: %s", tt.text, reason, message, tt.reason, tt.message)
		}
	}
}
