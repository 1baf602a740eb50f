package api

import (
	"regexp"
	"strings"
)

var (
	marker    = regexp.MustCompile(`^(---|\.\.\.)(\s|$)`)
	kindName  = regexp.MustCompile(`\bkind["']?\s*:\s*["']?(\w*)`)
	configKey = regexp.MustCompile(`(?m)^\s*["']?(data|stringData)["']?\s*:|[{,]\s*["']?(data|stringData)["']?\s*:`)
)

// secretLines returns which lines of a text belong to a YAML document that has, or may have, a Secret. The text need not be YAML:
// its mistake may be anywhere, also in the kind.
func secretLines(lines []string) []bool {
	secret, from := make([]bool, len(lines)), 0
	for n := range len(lines) + 1 {
		if n < len(lines) && !marker.MatchString(lines[n]) {
			continue
		}
		if text := strings.Join(lines[from:n], "\n"); mayHaveSecret(text) {
			for i := from; i < n; i++ {
				secret[i] = lines[i] != "---"
			}
		}
		from = n
	}
	return secret
}

// mayHaveSecret reports whether a kind in a text is Secret or similar, or data has no kind that is known to be no secret.
func mayHaveSecret(text string) bool {
	config := false
	for _, found := range kindName.FindAllStringSubmatch(text, -1) {
		if Nearest(found[1], []string{KindSecret}) != "" {
			return true
		}
		config = config || found[1] != "" && found[1] != "List"
	}
	return !config && configKey.MatchString(text)
}
