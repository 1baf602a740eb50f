// Package kubernetes reads Pods as Kubernetes does and as kubelet14 does.
package kubernetes

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

const top = "../../../.." // of kubelet14

var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "kubelet14-kubernetes-")
	if err != nil {
		panic(err)
	}
	binary = filepath.Join(dir, "kubelet14")
	if out, err := exec.Command("go", "build", "-C", top, "-o", binary, ".").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// convert returns what -convert prints for a file.
func convert(t *testing.T, path string) []byte {
	t.Helper()
	cmd := exec.Command(binary, "-convert", "-config="+path, "-allow_privileged")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("-convert of %s: %v", path, err)
	}
	return out
}

// strict decodes Pods, and the ConfigMaps beside them, as the API server does when it is strict: unknown fields and fields that are
// there twice are errors. It returns the Pods.
func strict(t *testing.T, text []byte) (pods []core.Pod) {
	t.Helper()
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return pods
		}
		var pod core.Pod
		isPod := !bytes.Contains(document, []byte("\nkind: ConfigMap\n"))
		if err == nil && isPod {
			err = yaml.UnmarshalStrict(document, &pod)
		} else if err == nil {
			err = yaml.UnmarshalStrict(document, &core.ConfigMap{})
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, document)
		}
		if !isPod {
			continue
		}
		check(t, &pod)
		pods = append(pods, pod)
	}
}

// check looks for what the API server refuses and types do not show.
func check(t *testing.T, pod *core.Pod) {
	t.Helper()
	problems := validation.IsDNS1123Subdomain(pod.Name)
	for _, c := range pod.Spec.Containers {
		problems = append(problems, validation.IsDNS1123Label(c.Name)...)
		for _, port := range c.Ports {
			if port.Name != "" {
				problems = append(problems, validation.IsValidPortName(port.Name)...)
			}
		}
	}
	if pod.APIVersion != "v1" || pod.Kind != "Pod" || len(pod.Spec.Containers) == 0 || len(problems) > 0 {
		t.Errorf("pod %q: %v %v", pod.Name, pod.TypeMeta, problems)
	}
}

func TestEveryExampleIsAPod(t *testing.T) {
	examples := 0
	for _, pattern := range []string{"manifests/*.yaml", "config/testdata/manifests/valid-*"} {
		files, _ := filepath.Glob(filepath.Join(top, pattern))
		for _, file := range files {
			if name := filepath.Base(file); name != "valid-pod.yaml" && name != "valid-several.yaml" { // one has no containers
				examples += len(strict(t, convert(t, file)))
			}
		}
	}
	if examples < 6 {
		t.Errorf("%d examples", examples)
	}
}

// A manifest of 2014 is this Pod for Kubernetes.
func TestManifestOf2014(t *testing.T) {
	pods := strict(t, convert(t, "2014.yaml"))
	if len(pods) != 1 {
		t.Fatalf("%d pods", len(pods))
	}
	var want core.Pod
	want.APIVersion, want.Kind, want.Name = "v1", "Pod", "texts.example"
	empty := core.VolumeSource{EmptyDir: &core.EmptyDirVolumeSource{}}
	docker := core.VolumeSource{HostPath: &core.HostPathVolumeSource{Path: "/var/run/docker.sock"}}
	probe := func(delay int32, handler core.ProbeHandler) *core.Probe {
		return &core.Probe{
			ProbeHandler: handler, InitialDelaySeconds: delay, TimeoutSeconds: 5, PeriodSeconds: 10, SuccessThreshold: 1, FailureThreshold: 1,
		}
	}
	want.Spec = core.PodSpec{
		Volumes: []core.Volume{{Name: "none", VolumeSource: empty}, {Name: "empty", VolumeSource: empty}, {Name: "docker", VolumeSource: docker}},
		Containers: []core.Container{{
			Name: "main", Image: "registry.example.com:5000/team/web:1.2", WorkingDir: "/srv",
			Args: []string{"yes", "no", "on", "010", "0o7", "1_000", "12:30:45", "2014-10-01", "1e3", ".inf", "~", "null", "=", "<<", "", " b ",
				"- c", "d: e # f", "{}", "*g", "&h", "!i", "'j'", `"k"`, "l\nm\n", "\tn", "%o", "@p", "|", "---", "a\r\nb", "\u2028", "\u0085",
				"\a", "é😀", "\ufeff"},
			Ports: []core.ContainerPort{
				{Name: "http", ContainerPort: 80, HostPort: 8080, HostIP: "127.0.0.1"}, {ContainerPort: 53, HostPort: 53, Protocol: "UDP"},
			},
			Env: []core.EnvVar{{Name: "A", Value: "1.10"}, {Name: "B", Value: "$$(A) $$$$ $A"}, {Name: "C"}},
			VolumeMounts: []core.VolumeMount{
				{Name: "docker", MountPath: "/docker.sock", ReadOnly: true}, {Name: "none", MountPath: "/none"}, {Name: "empty", MountPath: "/empty"},
			},
			LivenessProbe: probe(30, core.ProbeHandler{
				HTTPGet: &core.HTTPGetAction{Path: "/healthz", Port: intstr.FromString("http"), Host: "localhost"},
			}),
			Lifecycle: &core.Lifecycle{
				PostStart: &core.LifecycleHandler{HTTPGet: &core.HTTPGetAction{Path: "/started", Port: intstr.FromInt32(8080)}},
				PreStop:   &core.LifecycleHandler{Exec: &core.ExecAction{Command: []string{"bye", "$$"}}},
			},
			TerminationMessagePath: "/last/words", TerminationMessagePolicy: "FallbackToLogsOnError", ImagePullPolicy: "Always",
			SecurityContext: &core.SecurityContext{Privileged: new(true)},
		}, {
			Name: "side", Image: "side", ImagePullPolicy: "Never", TerminationMessagePolicy: "FallbackToLogsOnError",
			LivenessProbe: probe(10, core.ProbeHandler{TCPSocket: &core.TCPSocketAction{Port: intstr.FromInt32(80)}}),
		}},
		RestartPolicy: "OnFailure", TerminationGracePeriodSeconds: new(int64(10)),
	}
	limits := &pods[0].Spec.Containers[0].Resources
	if memory, cpu := limits.Limits.Memory().Value(), limits.Requests.Cpu().MilliValue(); memory != 67108865 || cpu != 100 {
		t.Errorf("memory %d, cpu %d", memory, cpu)
	}
	limits.Limits, limits.Requests = nil, nil
	if diff := cmp.Diff(want, pods[0]); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// What kubelet14 reads in a Pod, it prints, and Kubernetes reads the same in both.
func TestPodsOfToday(t *testing.T) {
	text, err := os.ReadFile("pods.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]core.Pod{}
	for _, pod := range strict(t, text) {
		want[pod.Name] = pod
	}
	got := strict(t, convert(t, "pods.yaml"))
	for _, pod := range got {
		if !equality.Semantic.DeepEqual(want[pod.Name], pod) {
			t.Errorf("-Kubernetes +kubelet14:\n%s", cmp.Diff(want[pod.Name], pod))
		}
	}
	if len(got) != len(want) || len(got) != 3 {
		t.Errorf("%d pods of %d", len(got), len(want))
	}
}
