package api_test

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/api/unittest"
	"kubelet14/api/v1"
	"kubelet14/api/v1beta1"
)

// Random manifests go from internal to wire types, to text and back, and to the JSON of labels and back. A field that a
// conversion forgets, or that has no json name, fails here.
func TestRoundTripLosesNothing(t *testing.T) {
	scheme := v1.NewScheme()
	random := rand.New(rand.NewPCG(14, 14))
	for i := 0; i < 200 && !t.Failed(); i++ {
		for _, version := range append(scheme.Versions("ContainerManifest"), scheme.Versions("Pod")...) {
			var m, fromLabel api.ContainerManifest
			filler{random, i == 0, version == api.VersionV1}.fill(t, reflect.ValueOf(&m).Elem())
			m.Version, m.Ignored, m.Services = version, nil, nil
			for i, c := range m.All() {
				if s := c.SecurityContext; s != nil && i%2 == 0 {
					s.SeccompProfile = ""
				} else if s != nil { // a container has one of both
					s.Unconfined = false
				}
			}
			label, err := json.Marshal(&m)
			unittest.Must(t, err)
			unittest.Must(t, json.Unmarshal(label, &fromLabel))
			for i, c := range fromLabel.All() {
				c.MemoryRequest = m.All()[i].MemoryRequest // which must change no hash
			}
			same(t, "through the label "+string(label), m, fromLabel)
			written := m
			_, m = throughWire(t, scheme, m) // without the fields that only v1 has
			if version == api.VersionV1 && i == 0 {
				same(t, "through the wire type of v1", written, m)
			}
			wire, back := throughWire(t, scheme, m)
			if i == 0 && version != api.VersionV1 {
				checkFull(t, version, reflect.ValueOf(wire).Elem())
			}
			same(t, "through the wire type of "+version, m, back)
			for _, encode := range []func(string, any) ([]byte, error){scheme.Encode, scheme.EncodeYAML} {
				text, err := encode(version, &m)
				unittest.Must(t, err)
				same(t, "through the text "+string(text), m, mustDecode(t, string(text)))
			}
		}
	}
}

func throughWire(t *testing.T, scheme *api.Scheme, m api.ContainerManifest) (wire any, back api.ContainerManifest) {
	t.Helper()
	wire, err := scheme.Externalize(m.Version, &m)
	unittest.Must(t, err)
	internal, err := scheme.Internalize(m.Version, wire)
	unittest.Must(t, err)
	return wire, *internal.(*api.ContainerManifest)
}

// checkFull reports empty fields of a wire type whose internal fields are set. Only old names may be empty.
func checkFull(t *testing.T, path string, v reflect.Value) {
	t.Helper()
	switch {
	case v.Kind() == reflect.Struct && v.Type() != reflect.TypeFor[api.IntOrString]():
		for i := range v.NumField() {
			if name := v.Type().Field(i).Name; !slices.Contains([]string{"Key", "Path", "MountType", "Type", "Enabled"}, name) {
				checkFull(t, path+"."+name, v.Field(i))
			}
		}
	case v.IsZero():
		t.Errorf("%s is lost", path)
	case v.Kind() == reflect.Pointer:
		checkFull(t, path, v.Elem())
	case v.Kind() == reflect.Slice:
		checkFull(t, path+"[0]", v.Index(0))
	}
}

// filler sets every field that reflection finds, so that a new field is tested without a change here.
type filler struct {
	rand *rand.Rand
	full bool // leave nothing empty
	pod  bool // a Pod can have only one of these
}

// awkward are strings that a YAML or JSON decoder could take for something else.
var awkward = []string{
	"a", "1.10", "true", "null", "~", " b ", "- c", "é😀", "d: e # f", "{}", "[", "*g", "&h", "!i", "'j'", `"k"`, "l\nm", "\tn", "%o", "@p",
	"<<", "0755", "---", "...", "\\", `\ud83d\ude00`, "\u2028", "\u0085", "\u007f", "\ufeff", "\ufffd", "\uffff", "a\r\nb", "1e3", "=", "|",
}

func (f filler) fill(t *testing.T, v reflect.Value) {
	t.Helper()
	if !v.CanSet() || !f.full && f.rand.IntN(3) == 0 {
		return
	}
	switch v.Interface().(type) {
	case api.IntOrString:
		port := api.IntOrString{Int: 1 + f.rand.IntN(65535)}
		if f.rand.IntN(2) == 0 {
			port = api.IntOrString{Str: strconv.Itoa(f.rand.IntN(100))}
		}
		v.Set(reflect.ValueOf(port))
		return
	case api.PullPolicy:
		v.SetString([]string{"PullAlways", "PullNever", "PullIfNotPresent"}[f.rand.IntN(3)])
		return
	case api.RestartPolicy, api.VolumeSource:
		if f.pod {
			f.fill(t, v.Field(f.rand.IntN(v.NumField())))
			return
		}
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			f.fill(t, v.Field(i))
		}
		if e, ok := v.Addr().Interface().(*api.EnvVar); ok && f.pod {
			*e = []api.EnvVar{
				{Name: e.Name, Value: e.Value}, {Name: e.Name, FieldPath: e.FieldPath},
				{Name: e.Name, ConfigMapKey: e.ConfigMapKey}, {Name: e.Name, SecretKey: e.SecretKey},
			}[f.rand.IntN(4)]
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(t, v.Elem())
	case reflect.Slice:
		n := 1 + f.rand.IntN(2)
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			f.fill(t, v.Index(i))
		}
	case reflect.Map:
		v.Set(reflect.ValueOf(map[string]string{"key": "value"}))
	case reflect.String:
		v.SetString(awkward[f.rand.IntN(len(awkward))])
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1 + f.rand.Int64N(1<<40))
	default:
		t.Fatalf("fill a %s: teach the filler this kind", v.Type())
	}
}

// fullManifest has something in every field.
func fullManifest(t *testing.T) (m api.ContainerManifest) {
	t.Helper()
	filler{rand.New(rand.NewPCG(1, 2)), true, false}.fill(t, reflect.ValueOf(&m).Elem())
	return m
}

func TestCloneIsEqualAndSharesNoMemory(t *testing.T) {
	m := fullManifest(t)
	clone := m.Clone()
	same(t, "the clone", m, clone)
	checkApart(t, "manifest", reflect.ValueOf(m), reflect.ValueOf(clone))
}

func checkApart(t *testing.T, path string, a, b reflect.Value) {
	t.Helper()
	isPointer := slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Map}, a.Kind())
	if isPointer && a.Pointer() == b.Pointer() && a.Type().Elem().Size() > 0 { // all pointers to empty structs are the same
		t.Errorf("%s is shared", path)
	}
	switch a.Kind() {
	case reflect.Struct:
		for i := range a.NumField() {
			checkApart(t, path+"."+a.Type().Field(i).Name, a.Field(i), b.Field(i))
		}
	case reflect.Slice:
		checkApart(t, path+"[0]", a.Index(0), b.Index(0))
	case reflect.Pointer:
		checkApart(t, path, a.Elem(), b.Elem())
	}
}

func TestSetDefaults(t *testing.T) {
	m := api.ContainerManifest{
		Volumes:    []api.Volume{{Name: "v"}},
		Containers: []api.Container{{Name: "c", Ports: []api.Port{{ContainerPort: 80}}}},
	}
	want := api.ContainerManifest{
		Volumes: []api.Volume{{Name: "v", Source: &api.VolumeSource{EmptyDir: &api.EmptyDir{}}}},
		Containers: []api.Container{{
			Name: "c", Ports: []api.Port{{ContainerPort: 80, Protocol: api.ProtocolTCP}},
			ImagePullPolicy: api.PullIfNotPresent, TerminationMessagePath: "/dev/termination-log",
		}},
		RestartPolicy: api.RestartPolicy{Always: &api.RestartPolicyAlways{}},
	}
	for range 2 { // the second time changes nothing
		api.SetDefaults(&m)
		same(t, "with defaults", want, m)
	}
	m = api.ContainerManifest{Version: api.VersionV1, InitContainers: []api.Container{{CPULimit: 100, StartupProbe: &api.Probe{PeriodSeconds: 5}}}}
	api.SetDefaults(&m)
	probe := *m.InitContainers[0].StartupProbe
	if (probe != api.Probe{TimeoutSeconds: 1, PeriodSeconds: 5, SuccessThreshold: 1, FailureThreshold: 3}) || *m.TerminationGracePeriodSeconds != 30 || m.InitContainers[0].CPU != 100 {
		t.Errorf("the defaults of v1 are %+v, %d s and a CPU of %d", probe, *m.TerminationGracePeriodSeconds, m.InitContainers[0].CPU)
	}
	written := fullManifest(t)
	m = written.Clone()
	api.SetDefaults(&m)
	same(t, "what is written", written, m)
}

// 2014's switch panicked for a type it did not know.
func TestSchemeReturnsAnErrorForWhatItDoesNotKnow(t *testing.T) {
	s, internal, wire := v1.NewScheme(), &api.ContainerManifest{}, &v1beta1.ContainerManifest{}
	oldName := &v1beta1.ContainerManifest{Containers: []v1beta1.Container{{Env: []v1beta1.EnvVar{{Key: "A"}}}}}
	for what, call := range map[string]func() (any, error){
		"new version":         func() (any, error) { return s.New("v9", "ContainerManifest") },
		"new kind":            func() (any, error) { return s.New("v1beta1", "Deployment") },
		"internalize version": func() (any, error) { return s.Internalize("v9", wire) },
		"internalize type":    func() (any, error) { return s.Internalize("v1beta1", internal) },
		"internalize a value": func() (any, error) { return s.Internalize("v1beta1", *wire) },
		"internalize nothing": func() (any, error) { return s.Internalize("v1beta1", nil) },
		"externalize version": func() (any, error) { return s.Externalize("v9", internal) },
		"externalize type":    func() (any, error) { return s.Externalize("v1beta1", wire) },
		"encode version":      func() (any, error) { _, err := s.Encode("v9", internal); return nil, err },
		"encode type":         func() (any, error) { _, err := s.Encode("v1beta1", wire); return nil, err },
		"error of conversion": func() (any, error) { return s.Internalize("v1beta2", oldName) },
	} {
		if obj, err := call(); err == nil || obj != nil {
			t.Errorf("%s: got %v, %v", what, obj, err)
		}
	}
}

func TestFullNameIsReadFromTheRight(t *testing.T) {
	pod := api.Pod{Name: "web.example.com", Namespace: "default", Source: "file"}
	if full := pod.FullName(); full != "web.example.com.default.file" {
		t.Errorf("full name: %q", full)
	}
	name, namespace, source := api.SplitFullName(pod.FullName())
	if name != pod.Name || namespace != pod.Namespace || source != pod.Source {
		t.Errorf("split: %q %q %q", name, namespace, source)
	}
	for _, bad := range []string{"", "web", "web.file"} {
		if name, namespace, source := api.SplitFullName(bad); name+namespace+source != "" {
			t.Errorf("%q is taken for a full name", bad)
		}
	}
}

// If a UID changed, an upgrade would replace every pod.
func TestNewUIDNeverMoves(t *testing.T) {
	const want = "17da653a5de638e17b04b1232d2ea299"
	if got := api.NewUID("host", "file", "default", "web"); got != want {
		t.Errorf("got %q", got)
	}
	if api.NewUID("a", "bc", "d", "e") == api.NewUID("ab", "c", "d", "e") {
		t.Error("two places share a UID")
	}
}

func TestSourceStatusSaysHowTheSourceDoes(t *testing.T) {
	noon := time.Date(2014, 10, 21, 12, 0, 0, 0, time.Local)
	for want, status := range map[string]api.SourceStatus{
		"source http (http://x): not read yet": {},
		"source http (http://x): 2 pods":       {Pods: 2, LastSuccess: noon, LastError: "refused", LastErrorAt: noon.Add(-time.Minute)},
		"source http (http://x): 0 pods, failing since 12:00:00, no good read since the start:\nrefused":     {FailingSince: noon, LastError: "refused"},
		"source http (http://x): 2 pods, failing since 12:00:01, last good read at 12:00:00:\nrefused twice": {Pods: 2, LastSuccess: noon, FailingSince: noon.Add(time.Second), LastError: "refused twice"},
	} {
		status.Source, status.Place = "http", "http://x"
		if got := status.String(); got != want {
			t.Errorf("got %q\nwant %q", got, want)
		}
	}
}
