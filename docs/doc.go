// Package docs is the documentation, and the tests that keep it true. It has no
// code of its own. Begin with README.md.
//
// The tests ask of every page:
//
//   - Names in backticks exist: Go names, flags, files, make targets and the fields
//     of manifests. What is no more, or is elsewhere, is set in italics.
//   - Every block marked "yaml" is a manifest that loads; one marked "yaml bad" is
//     refused.
//   - Every block marked "sh" is valid bash. Those marked "sh run" are run, in
//     order, as one script for each page, after the one in README.md; and each line
//     of a block marked "text see" is in what that prints, where … is anything.
//   - Links lead somewhere, and diagrams are whole.
//   - The operator's page has every flag, every field of a manifest and every reason,
//     and the messages it explains are ones that the program gives.
package docs
