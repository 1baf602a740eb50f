// Package validation decides what a good manifest is.
//
// ValidateManifest checks a manifest as it was written, before defaults, and returns all its problems; 2014 stopped at
// the first of a container, so that a bad name hid a forbidden flag. Package config calls it for every manifest it
// reads, to add file and line. The functions are pure.
package validation
