// Package etcdtest starts etcd servers for tests; only tests import it.
//
//	s := etcdtest.Start(t)
//	s.Ctl("put", "/registry/hosts/host/kubelet/web", manifest)
//	s.Kill()
//	s.Restart()
//
// They are real ones, built once for each version of etcd (build.go), and each
// keeps its address until the test ends, also while it is down.
package etcdtest
