package api

import (
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// leftOut are the kinds that mean nothing on one host, and why. Nothing in such an object is checked.
var leftOut = map[string]string{
	"Namespace":                "pods name their namespace",
	"ServiceAccount":           "pods get no token",
	"Role":                     "there is no API server",
	"ClusterRole":              "there is no API server",
	"RoleBinding":              "there is no API server",
	"ClusterRoleBinding":       "there is no API server",
	"CustomResourceDefinition": "there is no API server",
	"APIService":               "there is no API server",
	"Ingress":                  "there is no proxy; hostPort publishes a port",
	"IngressClass":             "there is no proxy; hostPort publishes a port",
	"Gateway":                  "there is no proxy; hostPort publishes a port",
	"GatewayClass":             "there is no proxy; hostPort publishes a port",
	"HTTPRoute":                "there is no proxy; hostPort publishes a port",
	"GRPCRoute":                "there is no proxy; hostPort publishes a port",
	"ServiceMonitor":           "there is no Prometheus operator",
	"PodMonitor":               "there is no Prometheus operator",
	"PrometheusRule":           "there is no Prometheus operator",
	"HorizontalPodAutoscaler":  "replicas stay as written",
	"PodDisruptionBudget":      "nothing moves pods",
	"PriorityClass":            "write the number into priority",
	"StorageClass":             "claims are directories of this host",
	"PersistentVolume":         "claims are directories of this host",
	"PersistentVolumeClaim":    "its directory is made for the first pod that names it; size and class mean nothing",
	"Endpoints":                "services find their pods by labels",
	"EndpointSlice":            "services find their pods by labels",
	"Event":                    "it is a report",
	"Lease":                    "nothing is elected here",
	"Node":                     "this host is the only one",
}

// Kinds without which this host would be less safe than their file says.
var unsafeWithout = []string{"NetworkPolicy", "LimitRange", "ResourceQuota", "PodSecurityPolicy", "ValidatingWebhookConfiguration",
	"MutatingWebhookConfiguration", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "MutatingAdmissionPolicy"}

// insteadOf says what to do with kinds that this program does not read.
var insteadOf = map[string]string{
	"CronJob":              "write its jobTemplate as a Job, and let cron run kubelet14 -cleanup and then kubelet14 -runonce, both with a -root_dir and a -hostname_override of their own",
	"PodTemplate":          "run its template as a Pod: the spec is that of template.spec",
	"Service":              "give -feature_gates=Services=true, or remove it",
	"BoundPods":            "write its pods as a ContainerManifestList, or a List of Pods",
	"KubeletConfiguration": "give the file to -config_file, not to -config",
	"Kustomization":        "render it first, as with kubectl kustomize",
}

// describeLeftOut names a left out object and says why it is one.
func describeLeftOut(kind string, root *yaml.Node) string {
	text := kind
	for _, name := range []string{"metadata", "name"} {
		if root = field(root, name); root == nil {
			break
		}
		text = kind + " " + root.Value
	}
	return OneLine(text) + ": " + leftOut[kind]
}

// otherKind says what to do with an object of a kind that cannot be decoded.
func (s *Scheme) otherKind(kind string) string {
	known := slices.Concat(s.kinds(), slices.Collect(maps.Keys(leftOut)), unsafeWithout, slices.Collect(maps.Keys(insteadOf)))
	best := ""
	if i := slices.IndexFunc(known, func(k string) bool { return strings.EqualFold(k, kind) }); i >= 0 {
		best = known[i]
	} else if best = Nearest(kind, known); max(len(best), len(kind))-min(len(best), len(kind)) > 2 {
		best = ""
	}
	switch instead := insteadOf[kind]; {
	case kind == "":
		return `unsupported value '': write "kind: Pod"`
	case slices.Contains(unsafeWithout, kind):
		return "this program enforces no " + kind + ", and without it this host is less safe than the file says: remove it if you do not need it"
	case instead != "":
		return "this program runs no " + kind + ": " + instead
	case best != "":
		return "unsupported value '" + kind + `': did you mean "` + best + `"?`
	}
	return "this program runs no " + kind + ": remove it"
}
