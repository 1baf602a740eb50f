package dockertools

import (
	"fmt"
	"regexp"
	"strings"

	"kubelet14/api"
)

// TrimLayers leaves out of Docker's error the names of the layers that passed it on.
func TrimLayers(text string) string {
	for _, layer := range []string{
		"failed to create shim task: ", "OCI runtime create failed: ", "OCI runtime exec failed: ", "runc create failed: ",
		"exec failed: ", "unable to start container process: ",
	} {
		text = strings.ReplaceAll(text, layer, "")
	}
	return strings.TrimSuffix(text, ": unknown")
}

// busyPort finds the port in Docker's error about one that is taken.
var busyPort = regexp.MustCompile(`:(\d+)(?: failed)?: (?:bind: )?(port is already allocated|address already in use)`)

// StartFailure reads the reason of a failed start from Docker's error, which has no code for it.
func StartFailure(text string) (reason, message string) {
	message = "could not start: " + TrimLayers(text)
	contains := func(part string) bool { return strings.Contains(text, part) }
	port := busyPort.FindStringSubmatch(text)
	switch {
	case port != nil && port[2] == "port is already allocated":
		return api.ReasonPortTaken, fmt.Sprintf("could not start: another container has the host port %s; `docker ps --filter publish=%[1]s` shows it; if there is none, a restart of Docker frees the port", port[1])
	case port != nil:
		return api.ReasonPortTaken, fmt.Sprintf("could not start: address already in use: a program of this host has the port %s; `ss -lntup` shows it", port[1])
	case contains("port is already allocated"), contains("address already in use"):
		return api.ReasonPortTaken, message
	case contains("exec: ") && (contains("executable file not found") || contains("no such file or directory") || contains("permission denied")):
		return api.ReasonCommandNotFound, message
	}
	return api.ReasonCannotStart, message
}

// IsMountMissing reports whether Docker refuses a container because a directory that it mounts is not there.
func IsMountMissing(err error) bool {
	return strings.Contains(err.Error(), "bind source path does not exist")
}
