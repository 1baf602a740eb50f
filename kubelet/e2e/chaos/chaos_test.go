//go:build chaos

package chaos

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"testing"
	"time"

	"kubelet14/api/v1"
	"kubelet14/api/validation"
	"kubelet14/kubelet/e2e/hosttest"
)

var (
	minutes   = flag.Float64("minutes", 1, "how many `minutes` of chaos, after all pods have started")
	seed      = flag.Uint64("seed", 1, "`seed` of the operations and faults; 0 takes a new one")
	calmLimit = flag.Duration("calm", 0, "how long a calm may take, beside its starts of containers; 0: that is measured and not judged")
	port      = flag.Int("page", 0, "`port` of the kubelet's page, at 127.0.0.1; 0: none")
)

func TestMain(m *testing.M) { hosttest.Main(m) }

// TestIntegrationLongChaos is `make chaos`.
func TestIntegrationLongChaos(t *testing.T) {
	s := *seed
	if s == 0 {
		s = uint64(time.Now().UnixNano() % 1e6)
	}
	w := newWorld(t, s)
	if *port != 0 {
		fmt.Fprintf(t.Output(), "watch it at http://127.0.0.1:%d/\n", *port)
	}
	w.chaos(time.Duration(*minutes*float64(time.Minute)), func() bool { return false })
	if v := w.witness.violations; len(v) > 0 {
		t.Errorf("%d violations with seed %d:\n%v", len(v), s, v)
	}
}

// chaos makes rounds for a time, or until enough.
func (w *world) chaos(lasts time.Duration, enough func() bool) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt) // ends the run, and everything is removed
	defer stop()
	w.enough = func() bool { return ctx.Err() != nil || enough() }
	script := newScript(w.witness.seed)
	fmt.Fprintf(w.witness.out, "seed %d; %d manifests\n", w.witness.seed, len(script.pods))
	err := w.calm("start")
	for began := time.Now(); err == nil && time.Since(began) < lasts && !w.enough(); {
		r := script.round()
		for _, op := range r.operations {
			if !w.enough() {
				w.do(op)
			}
		}
		err = w.calm(r.theme)
	}
	fmt.Fprint(w.witness.out, &w.witness.table)
}

// The same seed makes the same operations, whatever happens meanwhile, and another seed makes other ones.
func TestSameSeedSameOperations(t *testing.T) {
	text := func(seed uint64) (text string) {
		s := newScript(seed)
		for range 50 {
			r := s.round()
			text += r.theme + fmt.Sprintln(r.operations)
		}
		return text
	}
	if a, b := text(1), text(1); a != b {
		t.Errorf("one seed makes these operations:\n%s\nand these:\n%s", a, b)
	}
	if text(1) == text(2) {
		t.Error("two seeds make the same operations")
	}
}

func TestManifestsLoad(t *testing.T) {
	scheme := v1.NewScheme()
	for _, p := range newPods() {
		text := p.manifest("/journal")
		if pods, err := scheme.Decode(p.name, []byte(text), validation.Rules{}.Validate); err != nil {
			t.Errorf("%v, %v\n%s", pods, err, text)
		}
	}
}
