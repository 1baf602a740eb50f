package api_test

import (
	"strings"
	"testing"

	"kubelet14/api"
)

func TestParseQuantity(t *testing.T) {
	for text, want := range map[string]struct{ bytes, thousandths int64 }{
		"0": {0, 0}, "1": {1, 1000}, "+1": {1, 1000}, "-1": {-1, -1000}, "250m": {1, 250}, "0.5": {1, 500}, ".5": {1, 500}, "5.": {5, 5000}, "0.0001": {1, 1},
		"-1500m": {-1, -1500}, "1k": {1000, 1e6}, "64Mi": {64 << 20, 64 << 20 * 1000}, "1.5Gi": {3 << 29, 3 << 29 * 1000}, "1e3": {1000, 1e6}, "1E3": {1000, 1e6},
		"100n": {1, 1}, "1u": {1, 1}, "2Pi": {2 << 50, 2 << 50 * 1000}, "7M": {7e6, 7e9}, "1.5e-3": {1, 2},
	} {
		bytes, err1 := api.ParseQuantity(text, 1)
		thousandths, err2 := api.ParseQuantity(text, 1000)
		if err1 != nil || err2 != nil || bytes != want.bytes || thousandths != want.thousandths {
			t.Errorf("%s is %d and %d thousandths, %v, %v", text, bytes, thousandths, err1, err2)
		}
	}
	for _, text := range []string{"", "-", ".", "x", "1 ", " 1", "1MB", "1 Mi", "1mi", "1K", "1ki", "1kM", "0x10", "1_0", "1/2", "1e999", "1e", "e3", "NaN", "9Ei", "1e20", "1..2", strings.Repeat("9", 100)} {
		if n, err := api.ParseQuantity(text, 1); err == nil {
			t.Errorf("%.20s is %d", text, n)
		}
	}
}
