// Package api holds what a pod is, and how its text becomes that.
//
// The internal types (ContainerManifest, Container, Volume, Pod, PodUpdate) are
// what the whole program works with. What people write is a wire version of
// them, v1beta1 or v1beta2, and only the Scheme knows both:
//
//	text ─▶ Decode: limits, YAML, version ─▶ wire type ─▶ Internalize ─▶ internal type
//	                                         v1beta1.…     registered      ContainerManifest
//	                                                       conversion
//
// A Scheme maps a version and a kind to a Go type, and each type to its two
// conversion functions (PR #565). The package of a version registers them;
// package api imports none of them, so a version can be added without a change
// here.
//
// DecodeList reads lists too: what a web server or a key of etcd may hold. Encode goes
// the other way, for who asks what the kubelet runs (BoundPods, PodInfo).
//
// Both are strict. The kubelet of 2014 dropped what it did not understand: a
// misspelt field was silently absent, `cpu: "500"` was 0, and an empty file was
// a valid pod. Here each of them is an error with file, line, column, the path
// of the field and an excerpt, and all errors of a document are told at once.
//
// What must hold: a manifest is decoded, then validated (package validation),
// and kept as written. SetDefaults comes last and on a Clone, just before
// containers are made, so a new default changes nobody's hash.
package api
