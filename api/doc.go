// Package api has the types of pods, and decodes the text of their manifests.
//
// The program works with the internal types (ContainerManifest, Pod, PodUpdate, PodStatus). Manifests are written in
// the types of a wire version, v1, v1beta1 or v1beta2, which only the Scheme knows (PR #565):
//
//	text ─▶ Decode: YAML, version ─▶ wire type ─▶ Internalize ─▶ internal type
//	                                 v1.Pod        registered      ContainerManifest
//	                                               conversion
//
// Decode is strict: unknown fields, wrong types and empty files are problems with a line, a
// column and the path of the field. All problems of a text are one list, up to 50, which
// WithExcerpts prints. 2014 ignored what it did not understand.
//
// A manifest is decoded, then validated (by package validation, which Decode is given), and kept as written. SetDefaults
// changes a Clone just before containers are made.
package api
