// Package validation says what a good manifest is.
//
// ValidateManifest takes a manifest as it was written, before defaults, and
// returns everything that is wrong with it: 2014 stopped at the first error of a
// container, so a bad name hid a forbidden flag. The manifest parser of package
// config asks for it first, and adds file and line; PodConfig asks ValidatePod
// again for every pod of every source, since a pod may also come from a program.
//
// The functions are pure and safe for any number of goroutines. Paths of fields
// are only put together when there is an error to tell.
package validation
