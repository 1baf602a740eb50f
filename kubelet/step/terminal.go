package step

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strings"
)

const help = "Enter: do this. 1: do its first step. POD: do that pod's. a: do all from now on. s: stop at each again. q: end.\n"

// Read carries out what the lines of in say, until a q or their end.
func (s *Stepper) Read(in io.Reader) {
	for lines := bufio.NewScanner(in); lines.Scan(); {
		switch line := strings.TrimSpace(lines.Text()); line {
		case "q":
			return
		case "a", "s":
			s.mu.Lock()
			s.all = line == "a"
			s.mu.Unlock()
			s.Wake()
		case "1":
			s.allow("", 1)
		default:
			s.allow(line, math.MaxInt)
		}
	}
}

// allow allows steps of the plan of a pod, or of the one that has waited longest for "".
func (s *Stepper) allow(pod string, steps int) {
	var names []string
	for _, w := range s.Waiting() {
		if name, _, _ := strings.Cut(w.Pod, "."); pod == "" || pod == w.Pod || pod == name {
			s.Allow(w, steps)
			return
		}
		names = append(names, w.Pod)
	}
	if len(names) > 0 {
		fmt.Fprintf(s.Out, "%q is none of the pods that wait: %s\n%s", pod, strings.Join(names, ", "), help)
	} else {
		fmt.Fprintln(s.Out, "no pod waits: every pod is as it should be, or is being worked on")
	}
}
