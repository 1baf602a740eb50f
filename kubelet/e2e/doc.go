// Package e2e tests the whole program on a real Docker: the binary, started as a
// user starts it, and then the state of Docker, of files and of ports. It has no
// code of its own, only tests.
//
// Each test works on its own host: a root_dir, a directory of manifests and a
// hostname. So tests run beside each other and beside any kubelet of the machine.
// A test removes what it makes. The containers of a test that was killed are removed
// by the first run after two hours.
package e2e
