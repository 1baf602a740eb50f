package health

import (
	"net/http"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubelet14/api"
)

var testPorts = []api.Port{
	{Name: "http", HostPort: 80, ContainerPort: 8080},
	{Name: "9", HostPort: 81, ContainerPort: 9090}, // a name, though it looks like a number
}

func TestResolvePort(t *testing.T) {
	for _, test := range []struct {
		port api.IntOrString
		want int
	}{
		{api.IntOrString{Int: 1}, 1},
		{api.IntOrString{Int: 65535}, 65535},
		{api.IntOrString{Str: "93"}, 93},
		{api.IntOrString{Str: "http"}, 8080},
		{api.IntOrString{Str: "9"}, 9090},
		{api.IntOrString{Int: 9}, 9},
	} {
		if got, err := ResolvePort(test.port, testPorts); got != test.want || err != nil {
			t.Errorf("port %v is %d, %v; want %d", test.port, got, err, test.want)
		}
	}
}

func TestAPortThatIsNone(t *testing.T) {
	for port, want := range map[api.IntOrString]string{
		{}:              `port "0": it must be 1 to 65535`,
		{Int: -1}:       `port "-1": it must be 1 to 65535`,
		{Int: 65536}:    `port "65536": it must be 1 to 65535`,
		{Str: "-1"}:     `port "-1": it must be 1 to 65535`,
		{Str: "nobody"}: `port "nobody": this container has no port of this name`,
	} {
		got, err := ResolvePort(port, testPorts)
		if err == nil || err.Error() != want {
			t.Errorf("port %v is %d, %v; want %s", port, got, err, want)
		}
		for _, probe := range []*api.LivenessProbe{
			{HTTPGet: &api.HTTPGetAction{Port: port}}, {TCPSocket: &api.TCPSocketAction{Port: port}},
		} {
			wantResult(t, Probe(t.Context(), probe, Target{PodIP: "127.0.0.1", Ports: testPorts}), Unknown, want)
		}
	}
}

func TestANamedPortIsAskedByProbesAndHooks(t *testing.T) {
	asked := 0
	port := serve(t, func(http.ResponseWriter, *http.Request) { asked++ })
	target := Target{PodIP: "127.0.0.1", Ports: []api.Port{{Name: "web", HostPort: 1, ContainerPort: port}}}
	for _, name := range []string{"web", strconv.Itoa(port)} {
		action := &api.HTTPGetAction{Port: api.IntOrString{Str: name}}
		if got := Probe(t.Context(), &api.LivenessProbe{HTTPGet: action}, target); got.Status != Healthy {
			t.Errorf("port %s: %v %q, want healthy", name, got.Status, got.Output)
		}
		if err := RunHandler(t.Context(), &api.Handler{HTTPGet: action}, target); err != nil {
			t.Errorf("port %s: the hook failed: %v", name, err)
		}
	}
	if asked != 4 {
		t.Errorf("the server was asked %d times, want 4", asked)
	}
}

func TestResolveHandler(t *testing.T) {
	get := func(port api.IntOrString) *api.Handler {
		return &api.Handler{HTTPGet: &api.HTTPGetAction{Path: "/x", Host: "h", Port: port}}
	}
	for name, test := range map[string]struct{ in, want *api.Handler }{
		"no hook":            {nil, nil},
		"a command":          {&api.Handler{Exec: execProbe.Exec}, &api.Handler{Exec: execProbe.Exec}},
		"a number":           {get(api.IntOrString{Int: 5}), get(api.IntOrString{Int: 5})},
		"a number in quotes": {get(api.IntOrString{Str: "5"}), get(api.IntOrString{Int: 5})},
		"a name":             {get(api.IntOrString{Str: "http"}), get(api.IntOrString{Int: 8080})},
		"no port":            {get(api.IntOrString{}), get(api.IntOrString{Int: 80})},
	} {
		t.Run(name, func(t *testing.T) {
			var before *api.Handler
			if test.in != nil {
				before = new(api.Handler)
				api.Copy(before, test.in)
			}
			got, err := ResolveHandler(test.in, testPorts)
			if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
				t.Errorf("error %v, -want +got:\n%s", err, diff)
			}
			if diff := cmp.Diff(before, test.in); diff != "" {
				t.Errorf("what was given has changed:\n%s", diff)
			}
		})
	}
	if got, err := ResolveHandler(get(api.IntOrString{Str: "nobody"}), testPorts); err == nil {
		t.Errorf("an unknown name gives %v, want an error", got)
	}
}
