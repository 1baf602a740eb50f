package server

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"kubelet14/api"
)

// serveStatus answers with the state of every source and pod as text, or with that of one pod: with 200 when all is well, otherwise
// with 503 and the reasons after an empty line. The ETag is the same when only times since are different.
func (s *Server) serveStatus(w http.ResponseWriter, r *http.Request) error {
	var text strings.Builder
	var problems []string
	var pods []api.PodStatus
	var err error
	if name := r.URL.Query().Get("pod"); name != "" {
		pod, err := s.findPod(r, "", name, "")
		if err != nil {
			return err
		}
		if pods = []api.PodStatus{pod}; pod.SourceError != "" {
			problems = []string{"its manifest cannot be read"}
		}
	} else {
		problems = s.describeHost(&text) // before the pods: a source that is read in between counts as not read
		pods, _, err = s.kubeletFor(r).Statuses()
	}
	if err := cmp.Or(err, s.opts.Kubelet.Health()); err != nil {
		problems = slices.Insert(problems, 0, api.OneLine(err.Error()))
	}
	if err := checkPods(pods); err != nil {
		problems = append(problems, err.Error())
	}
	hash := sha256.New()
	if err := json.NewEncoder(hash).Encode([]any{text.String(), pods, problems}); err != nil {
		return err
	}
	w.Header().Set("ETag", fmt.Sprintf(`"%x"`, hash.Sum(nil)))
	if err := WriteStatuses(&text, pods, time.Now()); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if problems != nil {
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprintf(&text, "\n%s\n", strings.Join(problems, "\n"))
	}
	_, err = io.WriteString(w, api.Printable(text.String()))
	return err
}

// describeHost writes what holds for all pods, and returns what is wrong with it.
func (s *Server) describeHost(text *strings.Builder) (problems []string) {
	sources, n := s.opts.Sources(), s.opts.Node()
	for _, source := range sources {
		fmt.Fprintln(text, source)
	}
	fmt.Fprintln(text, describeNode(s.opts.Hostname, n))
	for _, c := range s.opts.Certificates {
		if warning := c.Warning(time.Now()); warning != "" {
			fmt.Fprintln(text, warning)
		}
	}
	problems = describeProblems(sources)
	for _, c := range n.Conditions {
		if c.Pressure() {
			problems = append(problems, c.Type+": "+c.Message)
		}
	}
	return problems
}

// describeProblems returns what is wrong with the sources.
func describeProblems(sources []api.SourceStatus) (problems []string) {
	for _, source := range sources {
		switch {
		case !source.FailingSince.IsZero():
			problems = append(problems, fmt.Sprintf("source %q has errors", source.Source))
		case source.LastSuccess.IsZero():
			problems = append(problems, fmt.Sprintf("source %q has not been read yet", source.Source))
		}
	}
	return problems
}

// checkPods returns an error that counts the pods that are not well, and names the first.
func checkPods(pods []api.PodStatus) error {
	ill := slices.DeleteFunc(slices.Clone(pods), func(p api.PodStatus) bool { return p.Well() })
	if len(ill) == 0 {
		return nil
	}
	return fmt.Errorf("not well: %d of %s, first %s: %s", len(ill), api.Count(len(pods), "pod"), ill[0].FullName(), ill[0].ShortReason())
}

// CountUp counts the pods that are up, for -runonce. The error counts those that are not.
func CountUp(pods []api.PodStatus) (up int, err error) {
	for i := range pods {
		if pods[i].Up() {
			up++
		}
	}
	if up < len(pods) {
		err = fmt.Errorf("not up: %d of %s; the table says why", len(pods)-up, api.Count(len(pods), "pod"))
	}
	return up, err
}

// WriteStatuses writes a table of pods and their containers, which is safe to print on a terminal. It writes once, so that no line of
// a log is in the middle of the table.
func WriteStatuses(w io.Writer, pods []api.PodStatus, now time.Time) error {
	var text bytes.Buffer
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "POD / CONTAINER\tSTATE\tREADY\tRESTARTS\tSINCE\tIP / ID\tPORTS / IMAGE\tREASON")
	for _, p := range pods {
		var ports []string
		for _, port := range p.Ports {
			ports = append(ports, PortText(port))
		}
		problem := Join(p.Reason, p.Message)
		if problem == "" && p.SourceError != "" {
			problem = "it may be older than its manifest, which cannot be read"
		}
		ended := []api.PodPhase{api.PodSucceeded, api.PodFailed, api.PodStopped, api.PodRemoving}
		ready := readyText(p.Ready, slices.Contains(ended, p.Phase))
		fmt.Fprintf(table, "%s\t%s\t%s\t\t\t%s\t%s\t%s\n", p.FullName(), p.Phase, ready, p.PodIP, strings.Join(ports, ","), api.OneLine(problem))
		for _, c := range p.Containers {
			state, since, reason := Describe(c)
			age := "-"
			if !since.IsZero() {
				age = now.Sub(since).Round(time.Second).String()
			}
			switch {
			case reason == "" && c.Last != nil && c.Name != api.NetworkContainerName: // which is always killed
				reason = "before: " + ExitText(c.Last)
			case c.State.Waiting != nil && strings.Contains(problem, c.State.Waiting.Message): // once is enough
				reason = c.State.Waiting.Reason
			}
			fmt.Fprintf(table, "  %s\t%s\t%s\t%d\t%s\t%s\t%s\t%s\n", c.Name, state, readyText(c.Ready, c.State.Terminated != nil), c.RestartCount, age,
				cmp.Or(shortID(c.ContainerID), "-"), cmp.Or(api.OneLine(c.Image), "-"), cmp.Or(api.OneLine(reason), "-"))
		}
	}
	err := table.Flush()
	if err == nil {
		_, err = w.Write(text.Bytes())
	}
	return err
}

// Describe returns the state of a container as one word, its beginning if that is known, and what is wrong or how it has ended.
func Describe(c api.ContainerStatus) (state string, since time.Time, problem string) {
	switch s := c.State; {
	case s.Running != nil:
		return "running", s.Running.StartedAt, s.Running.Message
	case s.Terminated != nil:
		return "terminated", s.Terminated.FinishedAt, Join(ExitText(s.Terminated), s.Terminated.Message)
	case s.Waiting != nil:
		return "waiting", time.Time{}, Join(s.Waiting.Reason, s.Waiting.Message)
	}
	return "", time.Time{}, ""
}

// readyText is the word for what is ready, and a dash for what need not be as it has ended or is going to.
func readyText(ready, ended bool) string {
	switch {
	case ready:
		return "yes"
	case ended:
		return "-"
	}
	return "no"
}

// PortText is the port of the host and that of the pod if it is another one, such as 127.0.0.1:8080->80/udp.
func PortText(port api.Port) string {
	text := strconv.Itoa(port.HostPort)
	if port.HostIP != "" {
		text = net.JoinHostPort(port.HostIP, text)
	}
	if port.ContainerPort != port.HostPort {
		text += "->" + strconv.Itoa(port.ContainerPort)
	}
	if port.Protocol == api.ProtocolUDP {
		text += "/udp"
	}
	return text
}

// shortID is what Docker's commands print of an id.
func shortID(id string) string { return id[:min(len(id), 12)] }

// ExitText returns how a container has ended, such as "Error (exit code 3)".
func ExitText(end *api.ContainerStateTerminated) string {
	if end.ExitCode == 0 {
		return end.Reason
	}
	return fmt.Sprintf("%s (exit code %d)", end.Reason, end.ExitCode)
}

// Join returns "reason: message", or the one that is not empty.
func Join(reason, message string) string {
	if reason == "" || message == "" {
		return cmp.Or(reason, message)
	}
	return reason + ": " + message
}
