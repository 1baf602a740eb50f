package v1

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"kubelet14/api"
)

// workload is an object whose spec has a template of pods.
type workload[Spec any] struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   Metadata `json:"metadata"`
	Spec       Spec     `json:"spec"`

	templatePaths
	_ api.Ignored `fields:"status"`
}

// Template describes the pods of a workload.
type Template struct {
	Metadata TemplateMetadata `json:"metadata"`
	Spec     Spec             `json:"spec"`
}

// TemplateMetadata is what the pods of a template have in common. Their names and their namespace are the workload's.
type TemplateMetadata struct {
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`

	_ api.Ignored `fields:"name namespace uid creationTimestamp deletionGracePeriodSeconds deletionTimestamp finalizers generateName"`
	_ api.Ignored `fields:"generation managedFields ownerReferences resourceVersion selfLink"`
}

// The kinds of workloads. Pods need no selector: those of a workload are those of its template. What a controller does, such as
// rolling updates, nobody does here.
type (
	Deployment workload[struct {
		Replicas *int     `json:"replicas"`
		Template Template `json:"template"`
		Selector any      `json:"selector"`

		_ api.Ignored `fields:"strategy minReadySeconds revisionHistoryLimit progressDeadlineSeconds paused rollbackTo"`
	}]

	ReplicaSet workload[struct {
		Replicas *int     `json:"replicas"`
		Template Template `json:"template"`
		Selector any      `json:"selector"`

		_ api.Ignored `fields:"minReadySeconds"`
	}]

	ReplicationController ReplicaSet

	DaemonSet workload[struct {
		Template Template `json:"template"`
		Selector any      `json:"selector"`

		_ api.Ignored `fields:"updateStrategy minReadySeconds revisionHistoryLimit templateGeneration"`
	}]

	StatefulSet workload[struct {
		Replicas    *int            `json:"replicas"`
		Template    Template        `json:"template"`
		Selector    any             `json:"selector"`
		Claims      []ClaimTemplate `json:"volumeClaimTemplates"`
		ServiceName string          `json:"serviceName"`

		_ api.Ignored     `fields:"podManagementPolicy updateStrategy minReadySeconds revisionHistoryLimit persistentVolumeClaimRetentionPolicy"`
		_ api.Unsupported `fields:"ordinals" instead:"remove it: the first pod is NAME-0"`
	}]

	Job workload[struct {
		Completions *int     `json:"completions"`
		Parallelism *int     `json:"parallelism"`
		Template    Template `json:"template"`
		Selector    any      `json:"selector"`
		Suspend     bool     `json:"suspend"`
		Deadline    *int64   `json:"activeDeadlineSeconds"`

		_ api.Ignored     `fields:"backoffLimit manualSelector ttlSecondsAfterFinished podReplacementPolicy"`
		_ api.Unsupported `fields:"completionMode" default:"NonIndexed" instead:"a pod has no index here: write more Jobs, each with a name of its own"`
		_ api.Unsupported `fields:"backoffLimitPerIndex maxFailedIndexes managedBy podFailurePolicy successPolicy"`
	}]
)

// ClaimTemplate gives each pod of a StatefulSet a claim of its own.
type ClaimTemplate struct {
	Metadata struct {
		Name string `json:"name"`

		_ api.Ignored `fields:"annotations labels namespace creationTimestamp"`
	} `json:"metadata"`

	_ api.Ignored `fields:"apiVersion kind status"`
	_ api.Ignored `fields:"spec" why:"size and class mean nothing"`
}

// addWorkloads lets the scheme decode workloads, of every version of an API that had these fields.
func addWorkloads(s *api.Scheme) {
	for _, version := range []string{"apps/v1", "apps/v1beta1", "apps/v1beta2", "extensions/v1beta1"} {
		addWorkload(s, version, func(in *Deployment, w *template) {
			w.replicas(&in.Metadata, in.Spec.Replicas, &in.Spec.Template)
		})
		addWorkload(s, version, func(in *ReplicaSet, w *template) {
			w.replicas(&in.Metadata, in.Spec.Replicas, &in.Spec.Template)
		})
		addWorkload(s, version, func(in *DaemonSet, w *template) { w.one(&in.Metadata, &in.Spec.Template, "Always") })
		addWorkload(s, version, func(in *StatefulSet, w *template) {
			w.replicas(&in.Metadata, in.Spec.Replicas, &in.Spec.Template)
			w.Template.Subdomain = cmp.Or(w.Template.Subdomain, in.Spec.ServiceName)
			for i, claim := range in.Spec.Claims {
				if w.Claims = append(w.Claims, claim.Metadata.Name); claim.Metadata.Name == "" {
					w.errs.Add(fmt.Sprintf("spec.volumeClaimTemplates[%d].metadata.name", i), "required value '': write the name of a volume")
				}
			}
		})
	}
	addWorkload(s, api.VersionV1, func(in *ReplicationController, w *template) {
		w.replicas(&in.Metadata, in.Spec.Replicas, &in.Spec.Template)
	})
	addWorkload(s, "batch/v1", func(in *Job, w *template) {
		seconds, pod := in.Spec.Deadline, &in.Spec.Template.Spec
		if seconds != nil && *seconds < 1 {
			w.errs.Add("spec.activeDeadlineSeconds", "invalid value '%d': use 1 to 2147483647", *seconds)
		}
		if seconds != nil && (pod.ActiveDeadlineSeconds == nil || *seconds < *pod.ActiveDeadlineSeconds) {
			pod.ActiveDeadlineSeconds = seconds
		}
		w.job(&in.Metadata, &in.Spec.Template, in.Spec.Completions, in.Spec.Parallelism)
		if in.Spec.Suspend {
			w.Pods = nil
		}
	})
}

const maxReplicas = 1000

// template converts the template of a workload.
type template struct {
	*api.Workload
	errs api.Mistakes
}

// addWorkload lets the scheme decode the kind of workload that has the type Wire.
func addWorkload[Wire any](s *api.Scheme, version string, convert func(*Wire, *template)) {
	var zero Wire
	s.AddKnownTypes(version, zero)
	api.AddInternalConversion(s, version, func(in *Wire, out *api.Workload) api.Mistakes {
		w := &template{Workload: out}
		out.Kind = reflect.TypeFor[Wire]().Name()
		convert(in, w)
		return w.errs
	})
}

// one converts a workload of one pod, which has its name and one of these restart policies.
func (w *template) one(metadata *Metadata, in *Template, restart ...string) {
	pod := &Pod{Metadata: *metadata, Spec: in.Spec}
	pod.Metadata.UUID, pod.Metadata.Labels, pod.Metadata.Annotations = "", in.Metadata.Labels, in.Metadata.Annotations
	for _, e := range internalize(pod, &w.Template) {
		w.errs.Add("spec.template."+e.Field, "%s", e.Text)
	}
	if policy, words := in.Spec.Restart, strings.Join(restart, " or "); policy == "" && !slices.Contains(restart, "Always") {
		w.errs.Add("spec.template.spec.restartPolicy", "required value '': write %s", words)
	} else if policy != "" && !slices.Contains(restart, policy) {
		w.errs.Add("spec.template.spec.restartPolicy", "unsupported value '%s': that of a %s is %s", policy, w.Kind, words)
	}
	if in.Spec.ActiveDeadlineSeconds != nil && restart[0] == "Always" {
		w.errs.Add("spec.template.spec.activeDeadlineSeconds", "not supported: a %s does not end, write a Job", w.Kind)
	}
	w.Name, w.Pods = metadata.ID, []string{metadata.ID}
}

// replicas converts a workload of numbered pods, which are always restarted.
func (w *template) replicas(metadata *Metadata, replicas *int, in *Template) {
	w.one(metadata, in, "Always")
	w.number("spec.replicas", *cmp.Or(replicas, new(1)))
}

// job converts a Job, whose pods all run at once. It is one pod with its name, or several numbered ones.
func (w *template) job(metadata *Metadata, in *Template, completions, parallelism *int) {
	w.one(metadata, in, "OnFailure", "Never")
	atOnce, field := *cmp.Or(parallelism, new(1)), "spec.completions"
	if completions == nil {
		completions, field = &atOnce, "spec.parallelism"
	}
	switch n := *completions; {
	case atOnce == 0: // as if it was suspended
		w.Pods = nil
	case n > atOnce:
		w.errs.Add(field, "not supported: all pods of a Job run at once here: write parallelism: %d too, or more Jobs, each with a name of its own", n)
	case n != 1:
		w.number(field, n)
	}
}

// number makes n pods, whose number a field has.
func (w *template) number(field string, n int) {
	if n < 0 || n > maxReplicas {
		w.errs.Add(field, "invalid value '%d': use 0 to %d", n, maxReplicas)
		n = 0
	}
	w.Pods = nil
	for i := range n {
		w.Pods = append(w.Pods, w.Name+"-"+strconv.Itoa(i))
	}
}

// FieldPath implements api.FieldPather.
func (j *Job) FieldPath(internal string) string {
	if internal == "replicas" {
		return "spec.parallelism"
	}
	return j.templatePaths.FieldPath(internal)
}

// templatePaths translates the paths of fields of a pod to those in the workload that has it as its template.
type templatePaths struct{}

// FieldPath implements api.FieldPather.
func (templatePaths) FieldPath(internal string) string {
	switch internal {
	case "replicas":
		return "spec.replicas"
	case "id", "namespace":
		return (*Pod)(nil).FieldPath(internal)
	}
	return strings.TrimSuffix("spec.template."+(*Pod)(nil).FieldPath(internal), ".")
}
