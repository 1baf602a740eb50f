package kubelet

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/golang/glog"

	"kubelet14/kubelet/dockertools"
)

// What is kept of a container that has ended: so much of its termination message,
// else so many of the last lines it printed.
const (
	maxLastWords = 4 << 10 // bytes
	maxLogLines  = 10
	maxWordsLine = 120 // bytes of the one line that the kubelet's own log has
)

// terminationFile names the file of an attempt, see volume.RootDir.
func terminationFile(of dockertools.NameParts) string {
	return fmt.Sprintf("%s.%d", of.Name, of.Attempt)
}

// lastWords is what an ended container left behind for people: its termination
// message, or the end of its log when it failed without one.
func (kl *Kubelet) lastWords(ctx context.Context, c *seenContainer) string {
	if kl.opts.Volumes != nil {
		message, err := kl.opts.Volumes.ReadTerminationFile(c.Of.UID, terminationFile(c.Of), maxLastWords)
		if err != nil {
			glog.Warningf("pod %s: container %q: read its termination message: %v", c.Of.PodFullName, c.Of.Name, err)
		}
		if len(message) > 0 {
			return strings.ToValidUTF8(string(message), "\uFFFD")
		}
	}
	if c.ExitCode == 0 {
		return ""
	}
	var log bytes.Buffer
	end := dockertools.LogOptions{Tail: maxLogLines, Stdout: true, Stderr: true}
	if err := kl.docker.Logs(ctx, c.ID, end, func(line dockertools.LogLine) error {
		log.Write(line.Text)
		return nil
	}); err != nil {
		glog.V(2).Infof("pod %s: container %q: read its log: %v", c.Of.PodFullName, c.Of.Name, err)
	}
	text := log.Bytes()
	return strings.ToValidUTF8(string(text[max(0, len(text)-maxLastWords):]), "\uFFFD")
}

// lastLine is the last line of a text that is not blank, cut to what fits into a
// line of the log.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	line := text[strings.LastIndexByte(text, '\n')+1:]
	if len(line) > maxWordsLine {
		line = strings.ToValidUTF8(line[:maxWordsLine], "") + "…"
	}
	return line
}
