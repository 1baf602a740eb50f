package health

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubelet14/api"
)

var testPorts = []api.Port{
	{Name: "http", HostPort: 80, ContainerPort: 8080},
	{Name: "9", HostPort: 81, ContainerPort: 9090}, // a name, though it looks like a number
}

func TestResolvePort(t *testing.T) {
	for port, number := range map[api.IntOrString]int{
		{Int: 1}: 1, {Int: 65535}: 65535, {Int: 9}: 9, {Str: "93"}: 93, {Str: "http"}: 8080, {Str: "9"}: 9090,
		{}: 0, {Int: -1}: 0, {Int: 65536}: 0, {Str: "-1"}: 0, {Str: "none"}: 0,
	} {
		got, err := ResolvePort(port, testPorts)
		if got != number || (err == nil) != (number > 0) {
			t.Errorf("port %v is %d, %v; want %d", port, got, err, number)
		}
		if number > 0 {
			continue
		}
		for _, probe := range []*api.Probe{
			{HTTPGet: &api.HTTPGetAction{Port: port}}, {TCPSocket: &api.TCPSocketAction{Port: port}},
		} {
			want(t, Probe(t.Context(), probe, Target{PodIP: "127.0.0.1", Ports: testPorts}),
				fmt.Sprintf("unknown: port %q: it must be 1 to 65535 or the name of a port of this container", port))
		}
	}
}

func TestResolveHandler(t *testing.T) {
	get := func(port api.IntOrString) *api.Handler {
		return &api.Handler{HTTPGet: &api.HTTPGetAction{Path: "/x", Host: "h", Port: port}}
	}
	for _, test := range []struct{ in, want *api.Handler }{
		{nil, nil},
		{&api.Handler{Exec: execProbe.Exec}, &api.Handler{Exec: execProbe.Exec}},
		{get(api.IntOrString{Int: 5}), get(api.IntOrString{Int: 5})},
		{get(api.IntOrString{Str: "5"}), get(api.IntOrString{Int: 5})},
		{get(api.IntOrString{Str: "http"}), get(api.IntOrString{Int: 8080})},
		{get(api.IntOrString{}), get(api.IntOrString{Int: 80})},
		{get(api.IntOrString{Str: "none"}), nil},
	} {
		var before api.Handler
		if test.in != nil {
			api.Copy(&before, test.in)
		}
		got, err := ResolveHandler(test.in, testPorts)
		if diff := cmp.Diff(test.want, got); diff != "" || (err != nil) != (test.in != nil && test.want == nil) {
			t.Errorf("error %v, -want +got:\n%s", err, diff)
		}
		if test.in != nil && !cmp.Equal(before, *test.in) {
			t.Errorf("its argument has changed to %v", *test.in)
		}
	}
}
