package logs

import (
	"bytes"
	"context"
	"strings"

	"github.com/golang/glog"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/plan"
	"kubelet14/volume"
)

const (
	maxMessage  = 4 << 10 // bytes of a termination message
	maxLogLines = 10      // that stand in for one
)

// TerminationMessage returns the termination message of a terminated container, or the end
// of its log if it failed without a message and its policy allows that. The volumes may be nil.
func TerminationMessage(ctx context.Context, docker dockertools.Interface, volumes *volume.RootDir, c *plan.Observed) string {
	if volumes != nil {
		message, err := volumes.ReadTerminationFile(c.Of.UID, c.Of.TerminationFile(), maxMessage)
		if err != nil {
			glog.Warningf("pod %s: container %q: read its termination message: %v", c.Of.PodFullName, c.Of.Name, err)
		}
		if len(message) > 0 {
			return strings.ToValidUTF8(string(message), "\uFFFD")
		}
	}
	if c.ExitCode == 0 || c.Labels[dockertools.LabelMessagePolicy] == string(api.MessageFile) {
		return ""
	}
	var log bytes.Buffer
	err := docker.Logs(ctx, c.ID, dockertools.LogOptions{Tail: maxLogLines, Stdout: true, Stderr: true}, func(line dockertools.LogLine) error {
		log.Write(line.Text)
		return nil
	})
	if err != nil {
		glog.V(2).Infof("pod %s: container %q: read its log: %v", c.Of.PodFullName, c.Of.Name, err)
	}
	text := log.Bytes()
	return strings.ToValidUTF8(string(text[max(0, len(text)-maxMessage):]), "\uFFFD")
}
