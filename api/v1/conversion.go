package v1

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"kubelet14/api"
	"kubelet14/api/v1beta1"
)

// NewScheme returns a Scheme with every version: v1 and those of 2014. It may be used concurrently.
func NewScheme() *api.Scheme {
	s := api.NewScheme()
	v1beta1.AddTo(s)
	s.AddKnownTypes(api.VersionV1, Pod{}, List{}, PodList{})
	api.AddInternalConversion(s, api.VersionV1, internalize)
	api.AddExternalConversion(s, api.VersionV1, externalize)
	addConfigObjects(s)
	addWorkloads(s)
	return s
}

// The words of v1, mapped to the internal ones.
var (
	pullPolicies = map[string]api.PullPolicy{
		"": "", "Always": api.PullAlways, "Never": api.PullNever, "IfNotPresent": api.PullIfNotPresent,
	}
	restartPolicies = map[string]api.RestartPolicy{
		"":          {},
		"Always":    {Always: &api.RestartPolicyAlways{}},
		"OnFailure": {OnFailure: &api.RestartPolicyOnFailure{}},
		"Never":     {Never: &api.RestartPolicyNever{}},
	}
	unconfined  = map[string]bool{"RuntimeDefault": false, "Unconfined": true, "Localhost": false}
	dnsPolicies = map[string]bool{"": true, "ClusterFirst": true, "ClusterFirstWithHostNet": true, "Default": true, "None": true}
)

// appArmor begins the annotations that chose profiles before Kubernetes 1.30.
const appArmor = "container.apparmor.security.beta.kubernetes.io/"

// internalize converts a Pod as it was written. It fills in no defaults.
func internalize(in *Pod, out *api.ContainerManifest) (errs api.Mistakes) {
	api.Copy(out, &in.Metadata)
	api.Copy(out, &in.Spec)
	out.Version = api.VersionV1
	for _, key := range slices.Sorted(maps.Keys(in.Metadata.Annotations)) {
		if value := in.Metadata.Annotations[key]; strings.HasPrefix(key, appArmor) && value != "runtime/default" {
			errs.Add("metadata.annotations", "not supported '%s': remove it: the containers have Docker's profile of AppArmor", value)
		}
	}
	out.RestartPolicy = lookup(&errs, "spec.restartPolicy", in.Spec.Restart, restartPolicies)
	lookup(&errs, "spec.dnsPolicy", in.Spec.DNSPolicy, dnsPolicies)
	for i, v := range in.Spec.Volumes {
		source := &api.VolumeSource{}
		if api.Copy(source, &v); *source != (api.VolumeSource{}) {
			out.Volumes[i].Source = source
		}
	}
	if dns := in.Spec.DNSConfig; dns != nil {
		out.DNS = &api.DNSConfig{Nameservers: dns.Nameservers, Searches: dns.Searches}
		for _, o := range dns.Options {
			out.DNS.Options = append(out.DNS.Options, strings.TrimSuffix(o.Name+":"+o.Value, ":"))
		}
	}
	if in.Spec.DNSPolicy == "None" && (out.DNS == nil || len(out.DNS.Nameservers) == 0) {
		errs.Add("spec.dnsPolicy", "None needs nameservers in dnsConfig")
	}
	pod := cmp.Or(in.Spec.SecurityContext, &PodSecurityContext{})
	out.FSGroup, out.SupplementalGroups = pod.FSGroup, pod.SupplementalGroups
	pod.Seccomp.check(&errs, "spec.securityContext.seccompProfile")
	for i := range in.Spec.InitContainers {
		internalizeContainer(&errs, fmt.Sprintf("spec.initContainers[%d]", i), &in.Spec.InitContainers[i], &out.InitContainers[i], pod)
	}
	for i := range in.Spec.Containers {
		internalizeContainer(&errs, fmt.Sprintf("spec.containers[%d]", i), &in.Spec.Containers[i], &out.Containers[i], pod)
	}
	return errs
}

// internalizeContainer converts the fields that Copy cannot.
func internalizeContainer(errs *api.Mistakes, path string, in *Container, out *api.Container, pod *PodSecurityContext) {
	out.ImagePullPolicy = lookup(errs, path+".imagePullPolicy", in.Pull, pullPolicies)
	if out.Sidecar = in.Restart == "Always"; in.Restart != "" && !out.Sidecar {
		errs.Add(path+".restartPolicy", "unsupported value '%s': that of the spec is for all; an init container with Always is a sidecar", in.Restart)
	}
	for i, e := range in.Env {
		field, from := fmt.Sprintf("%s.env[%d].valueFrom", path, i), cmp.Or(e.ValueFrom, &ValueFrom{})
		out.Env[i].FieldPath = cmp.Or(from.FieldRef, &api.FieldRef{}).FieldPath
		out.Env[i].ConfigMapKey, out.Env[i].SecretKey, out.Env[i].ResourceRef = from.ConfigMapKey, from.SecretKey, from.ResourceRef
		switch sources := countSet(from.FieldRef != nil, from.ConfigMapKey != nil, from.SecretKey != nil, from.ResourceRef != nil); {
		case e.ValueFrom == nil:
		case e.Value != "":
			errs.Add(field, "there is a value too: keep one of them")
		case sources != 1 || from.FieldRef != nil && from.FieldRef.FieldPath == "":
			errs.Add(field, "required value '': write one of a fieldRef with a fieldPath, a resourceFieldRef, a configMapKeyRef and a secretKeyRef")
		}
	}
	parse := func(field string, q Quantity, units int64) int64 {
		n, err := api.ParseQuantity(cmp.Or(string(q), "0"), units)
		if err != nil {
			errs.Add(path+".resources."+field, "invalid value '%s': %v", q, err)
		}
		return n
	}
	out.Memory = parse("limits.memory", in.Resources.Limits.Memory, 1)
	out.CPULimit = parse("limits.cpu", in.Resources.Limits.CPU, 1000)
	out.CPU = parse("requests.cpu", in.Resources.Requests.CPU, 1000)
	out.MemoryRequest = parse("requests.memory", in.Resources.Requests.Memory, 1)

	own := cmp.Or(in.SecurityContext, &SecurityContext{})
	seccomp := cmp.Or(own.Seccomp, pod.Seccomp, &SeccompProfile{})
	out.Privileged = own.Privileged
	out.SecurityContext = &api.SecurityContext{
		RunAsUser: cmp.Or(own.RunAsUser, pod.RunAsUser), RunAsGroup: cmp.Or(own.RunAsGroup, pod.RunAsGroup),
		CapAdd: own.Capabilities.Add, CapDrop: own.Capabilities.Drop, ReadOnlyRootFilesystem: own.ReadOnlyRootFilesystem,
		NonRoot:         *cmp.Or(own.RunAsNonRoot, pod.RunAsNonRoot, new(bool)),
		NoNewPrivileges: !*cmp.Or(own.AllowPrivilegeEscalation, new(true)),
		Unconfined:      unconfined[seccomp.Type],
		SeccompProfile:  seccomp.LocalhostProfile,
	}
	own.Seccomp.check(errs, path+".securityContext.seccompProfile")
	if reflect.ValueOf(*out.SecurityContext).IsZero() {
		out.SecurityContext = nil
	}
}

// check checks a profile, which may be nil.
func (p *SeccompProfile) check(errs *api.Mistakes, path string) {
	if p == nil {
		return
	}
	lookup(errs, path+".type", p.Type, unconfined)
	switch profile, local := p.LocalhostProfile, p.Type == "Localhost"; {
	case local && !filepath.IsLocal(profile):
		errs.Add(path+".localhostProfile", "invalid value '%s': write the path of a file in the directory seccomp of the -root_dir", profile)
	case !local && profile != "":
		errs.Add(path+".localhostProfile", "invalid value '%s': only the type Localhost has one", profile)
	}
}

// countSet returns how many are true.
func countSet(all ...bool) (n int) {
	for _, set := range all {
		if set {
			n++
		}
	}
	return n
}

// lookup returns the internal value for a word of v1.
func lookup[T any](errs *api.Mistakes, path, word string, words map[string]T) T {
	value, known := words[word]
	if !known {
		errs.Add(path, "unsupported value '%s': %s", word, api.Suggest(word, words))
	}
	return value
}

// FieldPath translates the path of a field of the internal types to its path in a Pod, such as
// spec.containers[0].resources.limits.memory.
func (*Pod) FieldPath(internal string) string {
	if path, ok := topLevel[internal]; ok {
		return path
	}
	return strings.TrimSuffix("spec."+specNames.Replace(internal+"."), ".")
}

var (
	topLevel = map[string]string{
		"": "", "version": "apiVersion", "id": "metadata.name", "uuid": "metadata.uid", "namespace": "metadata.namespace",
	}
	// specNames replaces whole names, each ended by a dot.
	specNames = strings.NewReplacer(
		".source.hostDir.", ".hostPath.", ".source.", ".",
		"].command.", "].args.", "].entrypoint.", "].command.",
		"].memory.", "].resources.limits.memory.", "].cpuLimit.", "].resources.limits.cpu.", "].cpu.", "].resources.requests.cpu.",
		"].privileged.", "].securityContext.privileged.", ".noNewPrivileges.", ".allowPrivilegeEscalation.",
		"fsGroup.", "securityContext.fsGroup.", "supplementalGroups[", "securityContext.supplementalGroups[",
		"].fieldPath.", "].valueFrom.fieldRef.fieldPath.", "dns.", "dnsConfig.",
		"].configMapKey.", "].valueFrom.configMapKeyRef.", "].secretKey.", "].valueFrom.secretKeyRef.",
		"].sidecar.", "].restartPolicy.", "].resourceRef.", "].valueFrom.resourceFieldRef.",
	)
)
