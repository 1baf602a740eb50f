// Package docs is the documentation, and the tests that keep it true. It has no
// other code. Begin with README.md.
//
// The tests check of every page:
//
//   - Names in backticks exist: Go names, flags, files, make targets, fields of
//     manifests. Other names are in italics.
//   - A block marked "yaml" is a manifest that loads; one marked "yaml bad" is refused.
//   - A block marked "sh" is valid bash. Blocks marked "sh run" are run, in order, as
//     one script for each page. Each line of a block marked "text see" is in the
//     output, where … stands for any text.
//   - Each exercise with a check (package exercises) is not yet done, and says why.
//   - Each solution of the labs passes its check, and one that falls into a trap does not (package labs).
//   - Links lead somewhere.
//   - The operator's page has every setting of a file, every field of a manifest and every
//     reason, and its messages are those of the program.
//   - The reading order is one afternoon, and the README states the true sizes.
//   - A test of kubelet/e2e keeps replay.html: it is what the page saves of an edit.
package docs
