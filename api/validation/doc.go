// Package validation decides which manifests are valid.
//
// ValidateManifest checks a manifest as it was written, before defaults, and returns all its problems. In 2014 checking
// stopped at a container's first problem, so a bad name hid a forbidden flag. Scheme.Decode in package api calls it for
// each manifest and adds the lines. The functions are pure.
package validation
