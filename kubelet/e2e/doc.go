// Package e2e tests the whole program on a real Docker: the binary, started as a
// user starts it, and what Docker, files and ports say afterwards. It has no code
// of its own, only tests.
//
// A test works on a host of its own: a root_dir, a directory of manifests and a
// hostname that no other has, so tests run beside each other and beside any
// kubelet of the machine. What a test makes, it removes; what a test that was
// killed has left is removed by the next run.
package e2e
