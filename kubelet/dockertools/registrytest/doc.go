// Package registrytest runs registries for tests of pulls; only tests import it.
//
//	r := registrytest.New(t)
//	image := r.Push("web:1")
//	r.SetAuth("user", "password")
//	... pull image.Ref with Docker ...
//
// Each is a real one as far as Docker sees: it speaks the registry's protocol over
// HTTP on 127.0.0.1, which Docker takes without TLS, and hands out real images,
// which run. On top of that it can be told to fail.
//
// It is no registry for anything else: it is empty when it starts, images come
// into it by Push alone, and passwords are checked as HTTP's basic ones, with no
// token server. The Docker that pulls must be the one of this machine.
package registrytest
