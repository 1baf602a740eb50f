package eviction

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"kubelet14/api"
)

// Signal names a resource of the host that is measured.
type Signal string

// The signals. nodefs is the file system of the root_dir, imagefs that of Docker's images.
const (
	MemoryAvailable  Signal = "memory.available"
	NodeFsAvailable  Signal = "nodefs.available"
	NodeFsInodesFree Signal = "nodefs.inodesFree"
	ImageFsAvailable Signal = "imagefs.available"
)

var signals = []Signal{MemoryAvailable, NodeFsAvailable, NodeFsInodesFree, ImageFsAvailable}

// Values is a flag.Value with a value for each signal. With the operator "<" a value is a quantity or a percentage, with
// "=" a duration. Set changes only the signals in its argument.
type Values struct {
	operator string
	of       map[Signal]string
}

// NewValues returns a flag with its defaults.
func NewValues(operator string, defaults map[Signal]string) *Values {
	return &Values{operator, defaults}
}

// SameSignals reports whether a and b have values for the same signals.
func SameSignals(a, b *Values) bool {
	return slices.Equal(slices.Sorted(maps.Keys(a.of)), slices.Sorted(maps.Keys(b.of)))
}

// String returns the syntax that Set parses, such as memory.available<100Mi,nodefs.available<10%.
func (v *Values) String() string {
	var items []string
	for _, signal := range signals {
		if value := v.of[signal]; value != "" {
			items = append(items, string(signal)+v.operator+value)
		}
	}
	return strings.Join(items, ",")
}

func (v *Values) Set(text string) error {
	for item := range strings.SplitSeq(strings.ReplaceAll(text, " ", ""), ",") {
		name, value, found := strings.Cut(item, v.operator)
		_, err := amount(value, 0)
		if v.operator == "=" {
			_, err = time.ParseDuration(value)
		}
		if err == nil && strings.HasPrefix(value, "-") {
			err = errors.New("it must not be negative")
		}
		switch signal := Signal(name); {
		case !found:
			return fmt.Errorf("%q is not a signal, %q and a value", item, v.operator)
		case !slices.Contains(signals, signal):
			return fmt.Errorf("unknown signal %q: the signals are %q", name, signals)
		case err != nil:
			return fmt.Errorf("%q: %w", item, err)
		default:
			v.of[signal] = value
		}
	}
	return nil
}

// amount returns a threshold as a number; a percentage is taken of total.
func amount(threshold string, total uint64) (uint64, error) {
	number, isPercentage := strings.CutSuffix(threshold, "%")
	if !isPercentage {
		n, err := api.ParseQuantity(threshold, 1)
		return uint64(n), err
	}
	percent, err := strconv.ParseFloat(number, 64)
	if err != nil || !(percent >= 0 && percent <= 100) {
		return 0, errors.New("a percentage is from 0% to 100%")
	}
	return uint64(float64(total) * percent / 100), nil
}
