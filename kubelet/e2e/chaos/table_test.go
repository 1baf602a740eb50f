//go:build chaos

package chaos

import (
	"fmt"
	"strings"
	"time"
)

// table is what a run has counted.
type table struct {
	rounds, operations, faults, made, starts            int
	doubles, needless, losses, strangers, orphans, late int
	longest                                             time.Duration // to whole
	violations                                          []string
}

func (t *table) String() string {
	var b strings.Builder
	for _, row := range []struct {
		what  string
		count any
	}{
		{"rounds", t.rounds}, {"operations", t.operations}, {"of them faults", t.faults}, {"containers made", t.made}, {"starts of their programs", t.starts},
		{"doubles", t.doubles}, {"needless restarts", t.needless}, {"losses of data", t.losses}, {"strangers touched", t.strangers},
		{"orphans", t.orphans}, {"late or never whole", t.late}, {"longest time to whole", t.longest.Round(100 * time.Millisecond)},
	} {
		fmt.Fprintf(&b, "%-26s %8v\n", row.what, row.count)
	}
	return b.String()
}

// kept is how many lines the report of a violation has.
const kept = 40

// note keeps a line for reports. The caller holds w.mu, as for violateLocked.
func (w *witness) note(format string, args ...any) {
	line := fmt.Sprintf("%8.2f s  %s", time.Since(w.began).Seconds(), fmt.Sprintf(format, args...))
	w.recent = append(w.recent[max(0, len(w.recent)-2000):], line)
}

// violateLocked reports a violation: the seed, the moment, the last events of the pod and the last operations.
func (w *witness) violateLocked(pod, format string, args ...any) {
	w.note("VIOLATION: "+format, args...)
	what := w.recent[len(w.recent)-1]
	w.violations = append(w.violations, what)
	fmt.Fprintf(w.out, "%s\nseed %d, round %d; the last events:\n", what, w.seed, w.rounds)
	var last []string
	for i := len(w.recent) - 1; i >= 0 && len(last) < kept; i-- {
		if line := w.recent[i]; pod == "" || strings.Contains(line, pod) || strings.Contains(line, "operation: ") {
			last = append(last, line)
		}
	}
	for i := len(last) - 1; i >= 0; i-- {
		fmt.Fprintln(w.out, "  ", last[i])
	}
}

func (w *witness) violate(pod, format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.violateLocked(pod, format, args...)
}
