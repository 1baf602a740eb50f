package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
)

// hash returns a short text that is equal for equal values.
func hash(of ...any) string {
	text, err := json.Marshal(of) // always in the order of the fields
	if err != nil {
		panic(err) // no value of a manifest is one that JSON lacks
	}
	return fmt.Sprintf("%x", sha256.Sum256(text))[:8]
}
