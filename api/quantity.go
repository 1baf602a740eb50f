package api

import (
	"errors"
	"math/big"
	"regexp"
	"strings"
)

// plainNumber matches a number that is cheap to compute with.
var plainNumber = regexp.MustCompile(`^[+-]?(\d{1,20}\.?\d{0,20}|\.\d{1,20})([eE][+-]?\d{1,2})?$`)

// suffixes are those of quantities, as numbers of package big.
var suffixes = map[string]string{
	"n": "1e-9", "u": "1e-6", "m": "1e-3", "": "1", "k": "1e3", "M": "1e6", "G": "1e9", "T": "1e12", "P": "1e15", "E": "1e18",
	"Ki": "0x1p10", "Mi": "0x1p20", "Gi": "0x1p30", "Ti": "0x1p40", "Pi": "0x1p50", "Ei": "0x1p60",
}

// ParseQuantity reads a quantity of v1, such as 64Mi, 1.5 or 250m, and returns how many units it is, if one is so many units:
// 250m of 1000 is 250. A part of a unit counts as a whole one.
func ParseQuantity(text string, units int64) (int64, error) {
	number := strings.TrimRight(text, "numkKMGTPEi")
	suffix, known := suffixes[text[len(number):]]
	if !known || !plainNumber.MatchString(number) || suffix != "1" && strings.ContainsAny(number, "eE") {
		return 0, errors.New("write a number, which may end with k, M, G, Ki, Mi, Gi, or m for thousandths")
	}
	value, _ := new(big.Rat).SetString(number)
	factor, _ := new(big.Rat).SetString(suffix)
	value.Mul(value, factor).Mul(value, big.NewRat(units, 1))
	up := new(big.Int).Sub(new(big.Int).Add(value.Num(), value.Denom()), big.NewInt(1))
	if up.Div(up, value.Denom()); !up.IsInt64() {
		return 0, errors.New("this number is too big")
	}
	return up.Int64(), nil
}
