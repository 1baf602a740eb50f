package configmaps

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"kubelet14/api"
	"kubelet14/api/unittest"
	"kubelet14/api/v1"
	"kubelet14/api/validation"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/plan"
	"kubelet14/volume"
)

func TestMain(m *testing.M) { unittest.Main(m) }

// test is a store with what it has noted.
type test struct {
	*Store
	t     *testing.T
	root  *volume.RootDir
	notes []string
}

func newTest(t *testing.T) *test {
	t.Helper()
	root, err := volume.OpenRootDir(filepath.Join(t.TempDir(), "root"))
	unittest.Must(t, err)
	t.Cleanup(func() { root.Close() })
	s := &test{t: t, root: root}
	sources := func() []api.SourceStatus {
		return []api.SourceStatus{
			{Source: "file", Place: "/etc/pods", LastSuccess: time.Now()}, {Source: "http", Place: "http://x/", LastSuccess: time.Now(), FailingSince: time.Now()},
			{Source: "etcd", Place: "http://e:2379"},
		}
	}
	note := func(pod, container, reason, message string) {
		s.notes = append(s.notes, fmt.Sprintf("%s %s %s: %s", pod, container, reason, message))
	}
	s.Store = NewStore(root, sources, note, func(topic string, err error) {
		if err != nil {
			t.Errorf("%s: %v", topic, err)
		}
	})
	return s
}

// decode returns the pods and objects of a text, as source file has them.
func decode(t *testing.T, text string) (pods map[string]*plan.Pod, objects []*api.ConfigObject) {
	t.Helper()
	docs, err := v1.NewScheme().Decode("f", []byte(text), validation.Rules{}.Validate)
	unittest.Must(t, err)
	pods = map[string]*plan.Pod{}
	for _, doc := range docs {
		if o := doc.Config; o != nil {
			o.Namespace, o.Source, o.Origin = "default", "file", "f"
			objects = append(objects, o)
			continue
		}
		pod := api.Pod{Name: doc.Manifest.ID, Namespace: "default", UID: doc.Manifest.ID + "-uid", Source: "file", Manifest: *doc.Manifest}
		pods[pod.FullName()] = plan.NewPod(pod, dockertools.PauseImage, time.Now())
	}
	return pods, objects
}

const objects = `
{apiVersion: v1, kind: ConfigMap, metadata: {name: web}, data: {colour: red, shop.conf: paint red, 1st: x, dollar: $(colour) $$}, binaryData: {icon: /wA=}}
---
{apiVersion: v1, kind: Secret, metadata: {name: web}, data: {password: aHVudGVyMg==}, stringData: {colour: gold}}
---
`

// podWith is a pod whose container main has fields, and volumes.
func podWith(container, volumes string) string {
	return `{apiVersion: v1, kind: Pod, metadata: {name: web, labels: {app: shop, b: "1"}, annotations: {note: "a\nb"}}, spec: {containers: [{name: main, image: b, ` +
		container + `}], volumes: [` + volumes + `]}}` + "\n---\n"
}

func TestVariables(t *testing.T) {
	for _, tt := range []struct{ name, container, want, notes string }{
		{"no object", "env: [{name: A, value: x}]", "A=x", ""},
		{"a key", "env: [{name: A, valueFrom: {configMapKeyRef: {name: web, key: colour}}}, {name: B, value: $(A)}]", "A=red B=red", ""},
		{"values are not expanded", "env: [{name: colour, value: x}, {name: A, valueFrom: {configMapKeyRef: {name: web, key: dollar}}}, {name: B, value: $(A)}]",
			"colour=x A=$(colour) $$ B=$(colour) $$", ""},
		{"a secret", "env: [{name: A, valueFrom: {secretKeyRef: {name: web, key: password}}}]", "A=hunter2", ""},
		{"all, and env replaces them", "envFrom: [{prefix: X_, configMapRef: {name: web}}, {secretRef: {name: web}}], env: [{name: A, value: $(password)}, {name: password, value: y}]",
			"X_1st=x X_colour=red X_dollar=$(colour) $$ X_shop.conf=paint red colour=gold password=y A=hunter2",
			"these keys of envFrom are no names, or no text, and were left out: icon"},
		{"a later one replaces an earlier one", "envFrom: [{secretRef: {name: web}}, {configMapRef: {name: web}}]",
			"colour=red password=hunter2 dollar=$(colour) $$ shop.conf=paint red", "left out: 1st, icon"},
		{"optional", "envFrom: [{configMapRef: {name: no, optional: true}}], env: [{name: A, valueFrom: {configMapKeyRef: {name: web, key: no, optional: true}}}, {name: B, valueFrom: {secretKeyRef: {name: no, key: no, optional: true}}}, {name: C}]",
			"C=", ""},
		{"fields", `env: [{name: A, valueFrom: {fieldRef: {fieldPath: "metadata.labels['app']"}}}, {name: B, valueFrom: {fieldRef: {fieldPath: "metadata.annotations['none']"}}}, {name: C, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}, {name: D, valueFrom: {fieldRef: {fieldPath: metadata.uid}}}]`,
			"A=shop B= C=field spec.nodeName D=web-uid", ""},
		{"resources", "resources: {limits: {cpu: 1500m, memory: 64Mi}, requests: {memory: 32Mi}}, env: [{name: A, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}, {name: B, valueFrom: {resourceFieldRef: {resource: limits.memory}}}, " +
			"{name: C, valueFrom: {resourceFieldRef: {resource: requests.memory, divisor: 1Gi}}}, {name: D, valueFrom: {resourceFieldRef: {containerName: main, resource: requests.cpu, divisor: 1m}}}]",
			"A=2 B=67108864 C=1 D=1500", ""},
		{"no requests", "resources: {limits: {memory: 64Mi}}, env: [{name: A, valueFrom: {resourceFieldRef: {resource: requests.memory, divisor: 1Mi}}}, {name: B, valueFrom: {resourceFieldRef: {resource: requests.cpu, divisor: \"0\"}}}]",
			"A=64 B=0", ""},
		{"no limits: what the host has", "env: [{name: A, valueFrom: {resourceFieldRef: {resource: limits.cpu, divisor: 1}}}, {name: B, valueFrom: {resourceFieldRef: {resource: limits.memory, divisor: 1Ki}}}]",
			fmt.Sprintf("A=%d B=%d", runtime.NumCPU(), hostMemory()>>10), ""},
	} {
		s := newTest(t)
		pods, objects := decode(t, objects+podWith(tt.container, ""))
		s.Update(objects, pods)
		pod := pods["web.default.file"]
		vars, err := s.Variables(pod, pod.Apps[0].Spec, func(path string) string {
			if strings.HasPrefix(path, "metadata.") {
				return ""
			}
			return "field " + path
		})
		if got := strings.Join(vars.List, " "); got != tt.want || err != nil {
			t.Errorf("%s: %q, %v; want %q", tt.name, got, err, tt.want)
		}
		if notes := strings.Join(s.notes, "\n"); !strings.Contains(notes, tt.notes) || (tt.notes == "") != (notes == "") {
			t.Errorf("%s: it notes %q, want %q", tt.name, notes, tt.notes)
		}
		none := slices.Contains([]string{"no object", "optional", "fields", "resources", "no requests", "no limits: what the host has"}, tt.name)
		if (vars.Used == "") != none {
			t.Errorf("%s: the hash is %q", tt.name, vars.Used)
		}
	}
}

// What is missing or ambiguous is a problem that says where it was looked for. It holds for variables and for files.
func TestProblems(t *testing.T) {
	const read = `read: file (/etc/pods); http (http://x/), which has errors; etcd (http://e:2379), not yet read to the end`
	twice := []*api.ConfigObject{
		{Kind: api.KindConfigMap, Namespace: "default", Name: "two", Source: "http", Origin: "http://x/"},
		{Kind: api.KindConfigMap, Namespace: "default", Name: "two", Source: "etcd", Origin: "a key"},
		{Kind: api.KindConfigMap, Namespace: "other", Name: "elsewhere", Source: "file", Origin: "g"},
	}
	for _, tt := range []struct{ container, volumes, want string }{
		{"env: [{name: A, valueFrom: {configMapKeyRef: {name: no, key: colour}}}]", "", `there is no ConfigMap "no" with the key "colour" in namespace "default"; ` + read},
		{"env: [{name: A, valueFrom: {secretKeyRef: {name: elsewhere, key: colour}}}]", "", `there is no Secret "elsewhere" with the key "colour" in namespace "default"; ` + read},
		{"env: [{name: A, valueFrom: {configMapKeyRef: {name: elsewhere, key: a}}}]", "", `there is no ConfigMap "elsewhere" with the key "a"`},
		{"env: [{name: A, valueFrom: {secretKeyRef: {name: web, key: no}}}]", "", `there is no key "no" in Secret "web" of namespace "default" (f)`},
		{"env: [{name: A, valueFrom: {configMapKeyRef: {name: web, key: icon}}}]", "", `the value of key "icon" in ConfigMap "web" is no text, so it cannot be variable A: mount it as a file`},
		{"envFrom: [{configMapRef: {name: no}}]", "", `there is no ConfigMap "no" in namespace "default"; ` + read},
		{"envFrom: [{configMapRef: {name: two}}]", "", `ConfigMap "two" of namespace "default" is in http://x/ and a key: keep one of them`},
		{"", "{name: v, configMap: {name: no}}", `volume "v": there is no ConfigMap "no" in namespace "default"; ` + read},
		{"", "{name: v, secret: {secretName: web, items: [{key: no, path: a}]}}", `volume "v": there is no key "no" in Secret "web" of namespace "default" (f)`},
		{"", "{name: v, projected: {sources: [{configMap: {name: web, items: [{key: colour, path: a}]}}, {secret: {name: web, items: [{key: colour, path: a/b}]}}]}}",
			`volume "v": "a" is a file, and the directory of "a/b"`},
	} {
		s := newTest(t)
		mounts := ""
		if tt.volumes != "" {
			mounts = "volumeMounts: [{name: v, mountPath: /v}]"
		}
		pods, objects := decode(t, objects+podWith(tt.container+mounts, tt.volumes))
		s.Update(append(objects, twice...), pods)
		pod := pods["web.default.file"]
		_, err := s.Variables(pod, pod.Apps[0].Spec, func(string) string { return "" })
		if tt.volumes != "" {
			vol, createErr := s.CreateVolume(&pod.Complete.Volumes[0], pod)
			unittest.Must(t, createErr)
			err = vol.SetUp()
			if _, statErr := os.Stat(vol.GetPath()); statErr == nil {
				t.Errorf("%s: there is a directory", tt.volumes)
			}
		}
		problem, ok := errors.AsType[plan.Problem](err)
		if !ok || problem.Reason != "CreateContainerConfigError" || !strings.Contains(problem.Message, tt.want) || problem.IsFailure() {
			t.Errorf("%s %s\n%v\nwant %s", tt.container, tt.volumes, err, tt.want)
		}
		if stale := s.Stale(pod, pod.Apps[0].Spec, ""); !strings.Contains(stale, tt.want) {
			t.Errorf("a container that runs is %q", stale)
		}
	}
}

// The object of the pod's own source counts, whatever the others have.
func TestOwnSourceFirst(t *testing.T) {
	s := newTest(t)
	pods, objects := decode(t, objects+podWith("envFrom: [{secretRef: {name: web}}]", ""))
	for _, source := range []string{"etcd", "http"} {
		objects = slices.Insert(objects, 0, &api.ConfigObject{Kind: api.KindSecret, Namespace: "default", Name: "web", Source: source})
	}
	s.Update(objects, pods)
	pod := pods["web.default.file"]
	if vars, err := s.Variables(pod, pod.Apps[0].Spec, nil); vars.Value["password"] != "hunter2" || err != nil {
		t.Errorf("the variables are %v, %v", vars.List, err)
	}
}

// tree returns the files of a volume with their modes and texts, or an error, as when they are replaced meanwhile.
func tree(dir string) (text string) {
	data, err := filepath.EvalSymlinks(filepath.Join(dir, "..data"))
	if err == nil {
		err = filepath.Walk(data, func(path string, info os.FileInfo, err error) error {
			if err == nil && !info.IsDir() {
				var data []byte
				data, err = os.ReadFile(path)
				text += fmt.Sprintf("%s %o %q\n", filepath.Base(path), info.Mode(), data)
			}
			return err
		})
	}
	if err != nil {
		return err.Error()
	}
	return text
}

func TestFiles(t *testing.T) {
	for _, tt := range []struct{ volume, want string }{
		{"configMap: {name: web}", "1st 644 \"x\"\ncolour 644 \"red\"\ndollar 644 \"$(colour) $$\"\nicon 644 \"\\xff\\x00\"\nshop.conf 644 \"paint red\"\n"},
		{"secret: {secretName: web}", "colour 600 \"gold\"\npassword 600 \"hunter2\"\n"},
		{"secret: {secretName: web, defaultMode: 0440, items: [{key: colour, path: a}, {key: password, path: x/b, mode: 256}]}", "a 440 \"gold\"\nb 400 \"hunter2\"\n"},
		{"configMap: {name: no, optional: true}", ""},
		{"downwardAPI: {items: [{path: memory, resourceFieldRef: {containerName: main, resource: limits.memory, divisor: 1Mi}}]}", "memory 644 \"64\"\n"},
		{"configMap: {name: web, optional: true, items: [{key: no, path: a}, {key: colour, path: b}]}", "b 644 \"red\"\n"},
		{"downwardAPI: {items: [{path: labels, fieldRef: {fieldPath: metadata.labels}}, {path: note, fieldRef: {fieldPath: metadata.annotations}, mode: 0600}, {path: name, fieldRef: {fieldPath: metadata.name}}]}",
			"labels 644 \"app=\\\"shop\\\"\\nb=\\\"1\\\"\"\nname 644 \"web\"\nnote 600 \"note=\\\"a\\\\nb\\\"\"\n"},
		{"projected: {sources: [{secret: {name: web}}, {configMap: {name: web, items: [{key: colour, path: colour}]}}]}", "colour 644 \"red\"\npassword 600 \"hunter2\"\n"},
		{"projected: {defaultMode: 0444, sources: [{secret: {name: web}}]}", "colour 444 \"gold\"\npassword 444 \"hunter2\"\n"},
		{"projected: {}", ""},
	} {
		s := newTest(t)
		pods, objects := decode(t, objects+podWith("resources: {limits: {memory: 64Mi}}", "{name: v, "+tt.volume+"}"))
		s.Update(objects, pods)
		pod := pods["web.default.file"]
		vol, err := s.CreateVolume(&pod.Complete.Volumes[0], pod)
		unittest.Must(t, err, vol.SetUp())
		if got := tree(vol.GetPath()); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.volume, got, tt.want)
		}
		if text := fmt.Sprint(vol); text != vol.GetPath() {
			t.Errorf("the volume is printed as %s", text)
		}
	}
}

// A volume in which the items name a value again and again has a limit.
func TestFilesOfAHostileVolume(t *testing.T) {
	s := newTest(t)
	var items []string
	for i := range 100 {
		items = append(items, fmt.Sprintf("{key: big, path: f%d}", i))
	}
	pods, objects := decode(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: web}, data: {big: "+strings.Repeat("x", 1<<20-10)+"}}\n---\n"+
		podWith("", "{name: v, configMap: {name: web, items: ["+strings.Join(items, ", ")+"]}}"))
	s.Update(objects, pods)
	pod := pods["web.default.file"]
	vol, err := s.CreateVolume(&pod.Complete.Volumes[0], pod)
	unittest.Must(t, err)
	unittest.Says(t, vol.SetUp(), `volume "v": its files need more than 64 MiB`)
}

// Run changes the files that exist, once objects or labels have changed, and makes no volume that no container has.
func TestRun(t *testing.T) {
	s := newTest(t)
	const volumes = "{name: v, configMap: {name: web, items: [{key: colour, path: colour}]}}, {name: l, downwardAPI: {items: [{path: l, fieldRef: {fieldPath: metadata.labels}}]}}, {name: w, configMap: {name: web}}"
	text := objects + podWith("envFrom: [{secretRef: {name: web}}]", volumes)
	pods, objects := decode(t, text)
	s.Update(objects, pods)
	pod := pods["web.default.file"]
	var dirs []string
	for i := range 2 {
		vol, err := s.CreateVolume(&pod.Complete.Volumes[i], pod)
		unittest.Must(t, err, vol.SetUp())
		dirs = append(dirs, vol.GetPath())
	}
	vars, err := s.Variables(pod, pod.Apps[0].Spec, nil)
	unittest.Must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { s.Run(ctx); close(done) }()
	t.Cleanup(func() { cancel(); <-done })
	await := func(dir int, want string) {
		t.Helper()
		unittest.Must(t, unittest.Wait(func() error {
			if got := tree(dirs[dir]); got != want {
				return fmt.Errorf("the files are %q, want %q", got, want)
			}
			return nil
		}))
	}
	edits := s.Edits()
	update := func(old, new string) {
		t.Helper()
		text = strings.Replace(text, old, new, 1)
		next, objects := decode(t, text)
		s.Update(objects, next)
		pod = next["web.default.file"]
	}
	update("colour: red", "colour: blue")
	await(0, "colour 644 \"blue\"\n")
	update("app: shop", "app: bank")
	await(1, "l 644 \"app=\\\"bank\\\"\\nb=\\\"1\\\"\"\n")
	if stale := s.Stale(pod, pod.Apps[0].Spec, vars.Used); stale != "" {
		t.Errorf("the variables have not changed: %q", stale)
	}
	update("colour: gold", "colour: silver")
	unittest.Says(t, errors.New(s.Stale(pod, pod.Apps[0].Spec, vars.Used)), "it gets the new variables when it is created anew")
	if s.Edits() == edits {
		t.Error("the number of edits has not changed")
	}
	update("kind: ConfigMap, metadata: {name: web}", "kind: ConfigMap, metadata: {name: gone}")
	update("{name: gone}, data: {colour: blue", "{name: web}, data: {colour: green")
	await(0, "colour 644 \"green\"\n") // it stayed blue meanwhile, or the one before the next would be missing
	if _, err := os.Stat(filepath.Join(filepath.Dir(dirs[0]), "w")); err == nil {
		t.Error("a volume that no container has was made")
	}
}

// What prints an object, or what holds one, prints no value.
func TestNothingPrintsAValue(t *testing.T) {
	pods, objects := decode(t, objects+podWith("", ""))
	update := api.PodUpdate{Configs: objects}
	for _, text := range []string{fmt.Sprintf("%v %+v %#v %s", objects[1], *objects[1], *objects[1], objects[1].Data), fmt.Sprintf("%+v", update), fmt.Sprint(pods)} {
		if strings.Contains(text, "hunter2") || strings.Contains(text, "104 117 110") || strings.Contains(text, "0x68") || strings.Contains(text, "68756e") {
			t.Errorf("a value is in %s", text)
		}
	}
}
