package validation_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubelet14/api"
	"kubelet14/api/validation"
)

// goodManifest uses every field. The tests break one thing of it at a time.
func goodManifest() api.ContainerManifest {
	return api.ContainerManifest{
		Version: "v1beta1",
		ID:      "web.example.com",
		UUID:    "3F2504E0-4f89",
		Volumes: []api.Volume{
			{Name: "none"},
			{Name: "empty", Source: &api.VolumeSource{EmptyDir: &api.EmptyDir{}}},
			{Name: "host", Source: &api.VolumeSource{HostDir: &api.HostDir{Path: "/data"}}},
		},
		Containers: []api.Container{
			{
				Name:       "main",
				Image:      "registry:5000/a/b:1.2",
				Command:    []string{"sh", "-c", "exit"},
				WorkingDir: "/srv",
				Ports: []api.Port{
					{Name: "http", ContainerPort: 80, HostPort: 8080, Protocol: "TCP", HostIP: "127.0.0.1"},
					{ContainerPort: 53, HostPort: 8080, Protocol: "UDP"},
					{ContainerPort: 65535},
				},
				Env:          []api.EnvVar{{Name: "A_1", Value: "b"}, {Name: "EMPTY"}},
				Memory:       6 << 20,
				CPU:          500,
				VolumeMounts: []api.VolumeMount{{Name: "empty", MountPath: "/a"}, {Name: "host", MountPath: "/a/b", ReadOnly: true}},
				LivenessProbe: &api.LivenessProbe{
					HTTPGet:             &api.HTTPGetAction{Port: api.IntOrString{Str: "http"}},
					InitialDelaySeconds: 5,
				},
				Lifecycle: &api.Lifecycle{
					PostStart: &api.Handler{HTTPGet: &api.HTTPGetAction{Path: "/started"}},
					PreStop:   &api.Handler{Exec: &api.ExecAction{Command: []string{"bye"}}},
				},
				TerminationMessagePath: "/dev/log",
				Privileged:             true,
				ImagePullPolicy:        api.PullNever,
			},
			{Name: "plain", Image: "b"},
		},
		RestartPolicy: api.RestartPolicy{OnFailure: &api.RestartPolicyOnFailure{}},
	}
}

var privileged = validation.Rules{AllowPrivileged: true}

// checkErrors compares errors, each as "field: kind 'value'", without detail.
func checkErrors(t *testing.T, got api.FieldErrors, want ...string) {
	t.Helper()
	var lines []string
	for _, e := range got {
		problem, _, detailed := strings.Cut(e.Problem, "': ")
		if detailed {
			problem += "'"
		}
		lines = append(lines, e.Field+": "+problem)
	}
	if diff := cmp.Diff(strings.Join(want, "\n"), strings.Join(lines, "\n")); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
}

// row breaks a good manifest, and says what errors that gives.
type row struct {
	break_ func(m *api.ContainerManifest)
	want   []string
}

func checkRows(t *testing.T, rows map[string]row) {
	t.Helper()
	for name, tt := range rows {
		t.Run(name, func(t *testing.T) {
			m := goodManifest()
			tt.break_(&m)
			checkErrors(t, privileged.ValidateManifest(&m), tt.want...)
		})
	}
}

func TestGoodManifests(t *testing.T) {
	m := goodManifest()
	checkErrors(t, privileged.ValidateManifest(&m))
	checkErrors(t, validation.Rules{}.ValidateManifest(&api.ContainerManifest{Version: "v1beta2"}))
	for _, version := range []string{"v1beta1", "v1beta2"} {
		checkErrors(t, validation.Rules{}.ValidateManifest(&api.ContainerManifest{Version: version, ID: "a"}))
	}
	api.SetDefaults(&m)
	checkErrors(t, privileged.ValidateManifest(&m))
}

func TestIdentityOfAManifest(t *testing.T) {
	checkRows(t, map[string]row{
		"no version":      {func(m *api.ContainerManifest) { m.Version = "" }, []string{"version: required value ''"}},
		"version's case":  {func(m *api.ContainerManifest) { m.Version = "V1BETA1" }, []string{"version: unsupported value 'V1BETA1'"}},
		"unknown version": {func(m *api.ContainerManifest) { m.Version = "v2" }, []string{"version: unsupported value 'v2'"}},
		"id":              {func(m *api.ContainerManifest) { m.ID = "a_b" }, []string{"id: invalid value 'a_b'"}},
		"uuid":            {func(m *api.ContainerManifest) { m.UUID = "../.." }, []string{"uuid: invalid value '../..'"}},
	})
}

func TestVolumes(t *testing.T) {
	long := strings.Repeat("a", 64)
	set := func(volumes ...api.Volume) func(m *api.ContainerManifest) {
		return func(m *api.ContainerManifest) { m.Volumes, m.Containers = volumes, nil }
	}
	host := func(path string) api.Volume {
		return api.Volume{Name: "v", Source: &api.VolumeSource{HostDir: &api.HostDir{Path: path}}}
	}
	both := host("/a")
	both.Source.EmptyDir = &api.EmptyDir{}
	checkRows(t, map[string]row{
		"no name":       {set(api.Volume{}), []string{"volumes[0].name: required value ''"}},
		"64 characters": {set(api.Volume{Name: long}), []string{"volumes[0].name: invalid value '" + long + "'"}},
		"dots":          {set(api.Volume{Name: "a.b.c"}), []string{"volumes[0].name: invalid value 'a.b.c'"}},
		"a way out":     {set(api.Volume{Name: "../a"}), []string{"volumes[0].name: invalid value '../a'"}},
		"twice":         {set(api.Volume{Name: "a"}, api.Volume{Name: "a"}), []string{"volumes[1].name: duplicate value 'a'"}},
		"no kind":       {set(api.Volume{Name: "a", Source: &api.VolumeSource{}}), []string{"volumes[0].source: required value ''"}},
		"two kinds":     {set(both), []string{"volumes[0].source: invalid value 'hostDir, emptyDir'"}},
		"no path":       {set(host("")), []string{"volumes[0].source.hostDir.path: required value ''"}},
		"relative path": {set(host("data")), []string{"volumes[0].source.hostDir.path: invalid value 'data'"}},
	})
}

func TestRestartPolicies(t *testing.T) {
	always, onFailure, never := &api.RestartPolicyAlways{}, &api.RestartPolicyOnFailure{}, &api.RestartPolicyNever{}
	for _, good := range []api.RestartPolicy{{}, {Always: always}, {OnFailure: onFailure}, {Never: never}} {
		checkErrors(t, validation.Rules{}.ValidateManifest(&api.ContainerManifest{Version: "v1beta1", RestartPolicy: good}))
	}
	bad := api.RestartPolicy{Always: always, OnFailure: onFailure, Never: never}
	checkErrors(t, validation.Rules{}.ValidateManifest(&api.ContainerManifest{Version: "v1beta1", RestartPolicy: bad}),
		"restartPolicy: invalid value 'always, onFailure, never'")
}

func TestPods(t *testing.T) {
	good := api.Pod{Name: "a.b", Namespace: "default", Source: "file", UID: "x", Manifest: api.ContainerManifest{Version: "v1beta1"}}
	checkErrors(t, validation.Rules{}.ValidatePod(&good))

	long := strings.Repeat("a", 64)
	checkErrors(t, validation.Rules{}.ValidatePod(&api.Pod{}),
		"name: required value ''", "namespace: required value ''", "source: required value ''", "uid: required value ''", "version: required value ''")
	checkErrors(t, validation.Rules{}.ValidatePod(&api.Pod{Name: "a.b.c.", Namespace: "a.b", Source: "a.b", UID: long, Manifest: api.ContainerManifest{Version: "x"}}),
		"name: invalid value 'a.b.c.'", "namespace: invalid value 'a.b'", "source: invalid value 'a.b'", "uid: invalid value '"+long+"'", "version: unsupported value 'x'")
}

// In 2014 a container with a bad name was not looked at any further.
func TestAllErrorsAreTold(t *testing.T) {
	m := api.ContainerManifest{
		Version:    "v2",
		ID:         "A",
		Volumes:    []api.Volume{{Name: "B"}},
		Containers: []api.Container{{Name: "A_B", Privileged: true, Env: []api.EnvVar{{}}}, {Name: "A_B", CPU: -1}},
	}
	checkErrors(t, validation.Rules{}.ValidateManifest(&m),
		"version: unsupported value 'v2'",
		"id: invalid value 'A'",
		"volumes[0].name: invalid value 'B'",
		"containers[0].name: invalid value 'A_B'",
		"containers[0].image: required value ''",
		"containers[0].privileged: forbidden 'true'",
		"containers[0].env[0].name: required value ''",
		"containers[1].name: invalid value 'A_B'",
		"containers[1].image: required value ''",
		"containers[1].cpu: invalid value '-1'")
}

func TestProblemsInWords(t *testing.T) {
	long := strings.Repeat("é", 200)
	m := api.ContainerManifest{Version: "v1beta1", ID: long, Containers: []api.Container{{Name: "A_B", Privileged: true, Env: []api.EnvVar{{Name: "A=secret"}}}}}
	const want = "id: invalid value 'LONG…': use a-z, 0-9, and '-' and '.' except at the ends; at most 253 characters, 63 between dots; " +
		"containers[0].name: invalid value 'A_B': use a-z, 0-9, and '-' except at the ends; at most 63 characters; " +
		"containers[0].image: required value '': invalid reference format; containers[0].privileged: forbidden 'true': the kubelet runs without -allow_privileged; " +
		"containers[0].env[0].name: invalid value '(hidden)': use A-Z, a-z, 0-9 and '_', and no digit first"
	if got := (validation.Rules{}.ValidateManifest(&m)).Error(); got != strings.Replace(want, "LONG", long[:200], 1) {
		t.Errorf("got %s", got)
	}
}

func BenchmarkValidatePod(b *testing.B) {
	pod := api.Pod{Name: "a", Namespace: "default", Source: "file", UID: "x", Manifest: goodManifest()}
	for b.Loop() {
		if errs := privileged.ValidatePod(&pod); len(errs) > 0 {
			b.Fatal(errs)
		}
	}
}
