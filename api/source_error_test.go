package api_test

import (
	"strings"
	"testing"

	"kubelet14/api/v1beta1"
)

// A manifest comes from wherever its source is, and an error of it goes to the log and
// to a terminal: what it quotes must neither look like another line nor be obeyed.
func TestWhatAnErrorQuotesIsOnePrintableLine(t *testing.T) {
	const nasty = `"a\nb\e[31mc\u0085\u009bd\u202e"`
	for name, text := range map[string]string{
		"a field":   "version: v1beta1\n" + nasty + ": 1\n",
		"a value":   "version: " + nasty + "\n",
		"a problem": "version: v1beta1\ncontainers:\n- volumeMounts: [{mountType: " + nasty + "}]\n",
	} {
		_, err := v1beta1.NewScheme().Decode("f", []byte(text))
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		first, _, _ := strings.Cut(err.Error(), "\n")
		if !strings.Contains(first, "a b?[31mc ?d?") {
			t.Errorf("%s: %q", name, err)
		}
	}
}

// What stands behind a | or a > is a rest of the line, and often a password that wants
// quotes. The excerpt shows it, and whoever hides the excerpt has hidden it.
func TestASyntaxErrorQuotesNoRestOfALine(t *testing.T) {
	for _, value := range []string{"|s3cret", ">s3cret", "|\ts3cret"} {
		_, err := v1beta1.NewScheme().Decode("f", []byte("version: v1beta1\ncontainers: [{env: [{name: A,\nvalue: "+value+"\n}]}]\n"))
		const want = "f:3:8: YAML syntax: invalid header option; put quotes around the value"
		if first, _, _ := strings.Cut(err.Error(), "\n"); first != want {
			t.Errorf("%q: it says %q, want %q", value, first, want)
		}
	}
}
