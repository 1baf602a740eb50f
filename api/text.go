package api

import (
	"strings"
	"unicode"
)

// cut returns at most length characters of s, from the character with the index from.
func cut(s string, from, length int) string {
	s = s[offset(s, from):]
	return s[:offset(s, length)]
}

// offset returns where the character with the index n begins in s, or the length of s if it has no such character.
func offset(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

// Shorten returns the first characters of a text, with … after them if there are more than limit.
func Shorten(text string, limit int) string {
	if shorter := cut(text, 0, limit); len(shorter) < len(text) {
		return shorter + "…"
	}
	return text
}

// Printable makes a text safe for a log and a terminal: blanks stand for white space, and ? for what else cannot be seen.
// Line breaks stay.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || unicode.IsPrint(r):
			return r
		case unicode.IsSpace(r):
			return ' '
		}
		return '?'
	}, text)
}

// OneLine makes a text one printable line. "; " stands for a line break, so that no name or message looks like two.
func OneLine(text string) string {
	return Printable(strings.ReplaceAll(strings.TrimSpace(text), "\n", "; "))
}
