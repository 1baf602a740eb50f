package validation

import (
	"strings"
	"testing"
)

// checkNames asks is for each of good and bad, which are separated by blanks.
func checkNames(t *testing.T, is func(string) bool, good, bad string, alsoBad ...string) {
	t.Helper()
	for _, s := range strings.Fields(good) {
		if !is(s) {
			t.Errorf("%q is refused", s)
		}
	}
	for _, s := range append(strings.Fields(bad), alsoBad...) {
		if is(s) {
			t.Errorf("%q is accepted", s)
		}
	}
}

func TestIsDNSLabel(t *testing.T) {
	long := strings.Repeat("a", 63)
	checkNames(t, IsDNSLabel,
		"a ab abc a1 a-1 a--1--2--b 0 01 012 1a 1-a 1--a--b--2 "+long,
		"A ABC aBc A1 - a- -a 1- -1 _ a_ _a a_b 1_ _1 . a. .a a.b 1. .1 1.2 é ../a "+long+"a", "", " ", "a b", "a ", "a\n", "a\x00")
}

func TestIsDNSSubdomain(t *testing.T) {
	long := strings.Repeat("a.", 126) + "a" // 253 characters
	checkNames(t, IsDNSSubdomain,
		"a ab 0 01 a-1 a.a ab.a ab.c a1.c1 a-1.c 0.a 0.1.2 a.b.c.d.e aa.bb.cc.dd.ee "+long,
		"A a.B . a. .a a..b -a a- a.-b a-.b _ a_b a.b_c 1. .1 a.b.c. ../.. "+long+".a", "", " ", "a .b", "a.b\n")
}

func TestIsCIdentifier(t *testing.T) {
	checkNames(t, isCIdentifier,
		"a ab A AB a1 _a a_ a_b _1 _ __ abcABC_09",
		"1 1a - a- a-b -a . a.b é a=b $a", "", " ", "a b", "a\n")
}

func TestIsUID(t *testing.T) {
	checkNames(t, isUID,
		"a A 0 3f2504e0-4f89-11d3-9a0c-0305e82c3301 a-B-0 "+strings.Repeat("a", 63),
		"a_b a.b . .. ../a a/b é "+strings.Repeat("a", 64), "", "a b", "a\n")
}

func TestIsPort(t *testing.T) {
	for n, want := range map[int]bool{1: true, 2: true, 1000: true, 65535: true, 0: false, -1: false, 65536: false, 1 << 40: false} {
		if isPort(n) != want {
			t.Errorf("%d: got %v", n, !want)
		}
	}
}
