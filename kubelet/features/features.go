// Package features has the feature gates: switches for what a kubelet does only when it is told to. Upstream:
// pkg/features and component-base/featuregate. There they are a global; here main passes a value on.
package features

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"kubelet14/api"
)

// The names of the gates. AllAlpha is the default of each alpha gate.
const (
	AllAlpha               = "AllAlpha"
	Eviction               = "Eviction"
	ImageGarbageCollection = "ImageGarbageCollection"
	NodeLogQuery           = "NodeLogQuery"
	Services               = "Services"
)

const (
	alpha = "ALPHA" // off unless it is turned on
	beta  = "BETA"  // on unless it is turned off
	ga    = ""      // on, and locked: it cannot be turned off
)

// Stages has the stage of each gate, as upstream's metric names it.
var Stages = map[string]string{AllAlpha: alpha, Eviction: alpha, ImageGarbageCollection: alpha, NodeLogQuery: ga, Services: beta}

// Usage describes each gate on a line, for the help of the flag.
func Usage() (usage string) {
	for _, gate := range slices.Sorted(maps.Keys(Stages)) {
		usage += "\n" + gate + map[string]string{
			alpha: "=true|false (ALPHA - default=false)", beta: "=true|false (BETA - default=true)", ga: "=true (GA - locked)",
		}[Stages[gate]]
	}
	return usage
}

// Gates are the gates that were set; the others have their defaults. It is a flag.Value.
type Gates struct{ set map[string]bool }

// Enabled reports whether a gate is on. An explicit setting overrides AllAlpha.
func (g Gates) Enabled(gate string) bool {
	if on, set := g.set[gate]; set {
		return on
	}
	return Stages[gate] != alpha || g.set[AllAlpha]
}

// Set adds gates written as A=true,B=false to those that were set before. The last one of a name counts.
func (g *Gates) Set(text string) error {
	for pair := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
		on, err := strconv.ParseBool(value)
		switch stage, known := Stages[name]; {
		case pair == "":
			continue
		case !known:
			return fmt.Errorf("unknown gate %q: %s", name, api.Suggest(name, Stages))
		case err != nil:
			return fmt.Errorf("write %s=true or %s=false", name, name)
		case stage == ga && !on:
			return fmt.Errorf("%s is locked and cannot be turned off: remove it", name)
		}
		if g.set == nil {
			g.set = map[string]bool{}
		}
		g.set[name] = on
	}
	return nil
}

// String returns the gates that were set, as Set reads them.
func (g *Gates) String() string {
	var pairs []string
	for _, gate := range slices.Sorted(maps.Keys(g.set)) {
		pairs = append(pairs, fmt.Sprintf("%s=%v", gate, g.set[gate]))
	}
	return strings.Join(pairs, ",")
}
