package execute

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kubelet14/api"
	"kubelet14/api/v1"
	"kubelet14/api/validation"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/plan"
	"kubelet14/kubelet/plan/plantest"
)

// sameInSpec leaves out fields with $$ and hooks. The comparison of specs covers them; hooks have port numbers there.
var sameInSpec = cmp.Options{
	cmpopts.IgnoreFields(api.Container{}, "Command", "Lifecycle"), cmpopts.IgnoreFields(api.EnvVar{}, "Value"),
	cmp.Comparer(func(a, b api.IntOrString) bool { return a.String() == b.String() }),
}

// A manifest that becomes a Pod by v1.Convert, and is written and read again, makes the same containers.
func TestConvertedPodIsTheSame(t *testing.T) {
	e, syncFrequency := newExecutor(t), 7*time.Second
	specs := func(pod *plan.Pod) (all []dockertools.ContainerSpec) {
		for _, c := range pod.Containers() {
			parts := dockertools.NameParts{Name: c.Name, Hash: "1", PodFullName: pod.FullName(), UID: pod.UID, Attempt: 1}
			spec, err := specOf(t, e, pod, plan.Action{Name: parts, Container: &c, Lifecycle: c.Lifecycle, Grace: pod.Grace, NetworkID: "net-id"})
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, spec)
		}
		return all
	}
	for _, pod := range oldPods(t) {
		scheme := v1.NewScheme()
		manifest, _, problems := v1.Convert(&pod, syncFrequency)
		if len(pod.Manifest.Containers) == 0 && len(problems) == 1 || pod.Manifest.Version == api.VersionV1 {
			continue
		}
		text, err := scheme.EncodeYAML(api.VersionV1, &manifest)
		if err != nil || len(problems) > 0 {
			t.Fatalf("%s: %v, %v", pod.Origin, problems, err)
		}
		docs, err := scheme.Decode("converted", text, validation.Rules{AllowPrivileged: true}.Validate)
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		// A manifest of 2014 means these by leaving them out.
		old := pod.Manifest.Clone()
		old.Version, old.ID, old.UUID, old.Ignored = api.VersionV1, pod.Name, "", nil
		old.TerminationGracePeriodSeconds = new(int64(stopGrace / time.Second))
		for _, c := range old.All() {
			c.TerminationMessagePolicy = api.MessageFallbackToLogs
			if p := c.LivenessProbe; p != nil {
				p.PeriodSeconds, p.TimeoutSeconds = int64(syncFrequency/time.Second), 5
				p.SuccessThreshold, p.FailureThreshold = 1, 1
				p.InitialDelaySeconds = max(p.InitialDelaySeconds, p.PeriodSeconds)
			}
		}
		desired := func(manifest api.ContainerManifest) *plan.Pod {
			pod := pod
			pod.Manifest = manifest
			return plan.NewPod(pod, dockertools.PauseImage, time.Now())
		}
		before, after := desired(pod.Manifest), desired(*docs[0].Manifest)
		before.Grace = after.Grace // old has it
		if diff := cmp.Diff(specs(before), specs(after)); diff != "" {
			t.Errorf("%s (-2014 +converted):\n%s\n%s", pod.Origin, diff, text)
		}
		if diff := cmp.Diff(desired(old).Complete, after.Complete, sameInSpec); diff != "" {
			t.Errorf("%s (-2014 +converted):\n%s\n%s", pod.Origin, diff, text)
		}
	}
}

// oldPods returns the pods of the examples, and random ones.
func oldPods(t *testing.T) []api.Pod {
	t.Helper()
	pods := []api.Pod{plantest.FullPod()}
	for _, pattern := range []string{"../../manifests/*.yaml", "../../config/testdata/manifests/valid-*"} {
		files, _ := filepath.Glob(pattern)
		if len(files) == 0 {
			t.Fatalf("no files %s", pattern)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			docs, err := v1.NewScheme().Decode(file, text, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, doc := range docs {
				if doc.Manifest == nil {
					continue
				}
				pods = append(pods, api.Pod{Name: doc.Manifest.ID, Namespace: "default", UID: "u", Source: "file", Origin: file, Manifest: *doc.Manifest})
			}
		}
	}
	random := rand.New(rand.NewPCG(20, 14))
	ports := []api.IntOrString{{}, {Int: 81}, {Str: "82"}, {Str: "http"}}
	for range 300 {
		pod := plantest.FullPod()
		var text strings.Builder
		for range random.IntN(9) {
			text.WriteString([]string{"$", "$", "(", ")", "A", "$(A)"}[random.IntN(6)])
		}
		get := func(ports []api.IntOrString) *api.HTTPGetAction {
			return &api.HTTPGetAction{Path: "/a", Port: ports[random.IntN(len(ports))]}
		}
		c := &pod.Manifest.Containers[0]
		c.Command, c.Env[1].Value = append(c.Command, text.String()), text.String()
		c.CPU, c.Memory = random.Int64N(3), random.Int64N(3)*6<<20
		c.ImagePullPolicy = []api.PullPolicy{"", api.PullAlways, api.PullNever, api.PullIfNotPresent}[random.IntN(4)]
		c.Lifecycle = &api.Lifecycle{PreStop: &api.Handler{HTTPGet: get(ports)}}
		c.LivenessProbe = &api.Probe{InitialDelaySeconds: random.Int64N(2) * 9, HTTPGet: get(ports[1:])}
		if random.IntN(2) == 0 {
			c.Lifecycle.PostStart = &api.Handler{Exec: &api.ExecAction{Command: []string{text.String()}}}
			c.LivenessProbe.HTTPGet, c.LivenessProbe.TCPSocket = nil, &api.TCPSocketAction{Port: c.LivenessProbe.HTTPGet.Port}
		}
		pod.Manifest.RestartPolicy = []api.RestartPolicy{
			{}, {Never: &api.RestartPolicyNever{}}, {OnFailure: &api.RestartPolicyOnFailure{}}, {Always: &api.RestartPolicyAlways{}},
		}[random.IntN(4)]
		pods = append(pods, pod)
	}
	return pods
}
