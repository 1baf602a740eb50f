// Package validation decides what a good manifest is.
//
// ValidateManifest checks a manifest as it was written, before defaults, and returns all its problems; 2014 stopped at
// the first of a container, so that a bad name hid a forbidden flag. Decode of
// package api calls it for each manifest, and adds the line. The functions are pure.
package validation
