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
		line := strings.TrimSpace(lines.Text())
		if line == "q" {
			return
		}
		s.mu.Lock()
		switch line {
		case "":
			s.allow("", math.MaxInt)
		case "1":
			s.allow("", 1)
		case "a", "s":
			s.all = line == "a"
		default:
			s.allow(line, math.MaxInt)
		}
		s.mu.Unlock()
		s.Wake()
	}
}

// allow allows steps of the plan of a pod, or of the one that waits longest for "".
func (s *Stepper) allow(pod string, steps int) {
	var names []string
	for _, w := range s.waiting {
		name, _, _ := strings.Cut(w.pod, ".")
		switch {
		case w.id == "" || w.allowed > 0: // it is carried out, or is about to be
		case pod == "" || pod == w.pod || pod == name:
			w.allowed = steps
			return
		default:
			names = append(names, w.pod)
		}
	}
	switch {
	case len(names) > 0:
		fmt.Fprintf(s.Out, "%q is none of the pods that wait: %s\n%s", pod, strings.Join(names, ", "), help)
	case !s.all:
		fmt.Fprintln(s.Out, "no pod waits: every pod is as it should be, or is being worked on")
	}
}
