package v1

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"

	"kubelet14/api"
)

// externalize converts a manifest to a Pod that kubectl accepts.
func externalize(in *api.ContainerManifest, out *Pod) {
	api.Copy(&out.Metadata, in)
	api.Copy(&out.Spec, in)
	out.APIVersion, out.Kind = api.VersionV1, "Pod"
	for word, policy := range restartPolicies {
		if reflect.DeepEqual(policy, in.RestartPolicy) {
			out.Spec.Restart = word
		}
	}
	for i, v := range in.Volumes {
		if v.Source != nil {
			api.Copy(&out.Spec.Volumes[i], v.Source)
		}
	}
	if in.FSGroup != nil || in.SupplementalGroups != nil {
		out.Spec.SecurityContext = &PodSecurityContext{FSGroup: in.FSGroup, SupplementalGroups: in.SupplementalGroups}
	}
	if in.DNS != nil {
		out.Spec.DNSConfig = &DNSConfig{Nameservers: in.DNS.Nameservers, Searches: in.DNS.Searches}
		for _, o := range in.DNS.Options {
			name, value, _ := strings.Cut(o, ":")
			out.Spec.DNSConfig.Options = append(out.Spec.DNSConfig.Options, DNSOption{name, value})
		}
		if len(in.DNS.Nameservers) > 0 {
			out.Spec.DNSPolicy = "None"
		}
	}
	for i := range in.InitContainers {
		externalizeContainer(&in.InitContainers[i], &out.Spec.InitContainers[i])
	}
	for i := range in.Containers {
		externalizeContainer(&in.Containers[i], &out.Spec.Containers[i])
	}
}

// externalizeContainer converts the fields that Copy cannot.
func externalizeContainer(in *api.Container, out *Container) {
	out.Pull = strings.TrimPrefix(string(in.ImagePullPolicy), "Pull")
	if in.Sidecar {
		out.Restart = "Always"
	}
	for i, e := range in.Env {
		from := &ValueFrom{ConfigMapKey: e.ConfigMapKey, SecretKey: e.SecretKey, ResourceRef: e.ResourceRef}
		if e.FieldPath != "" {
			from.FieldRef = &api.FieldRef{FieldPath: e.FieldPath}
		}
		if *from != (ValueFrom{}) {
			out.Env[i].ValueFrom = from
		}
	}
	out.Resources.Requests.CPU, out.Resources.Limits.CPU = quantity(in.CPU, "m"), quantity(in.CPULimit, "m")
	out.Resources.Requests.Memory, out.Resources.Limits.Memory = bytes(in.MemoryRequest), bytes(in.Memory)
	if in.SecurityContext != nil || in.Privileged {
		own := cmp.Or(in.SecurityContext, &api.SecurityContext{})
		out.SecurityContext = &SecurityContext{
			Privileged: in.Privileged, RunAsUser: own.RunAsUser, RunAsGroup: own.RunAsGroup, ReadOnlyRootFilesystem: own.ReadOnlyRootFilesystem,
		}
		if own.NonRoot {
			out.SecurityContext.RunAsNonRoot = new(true)
		}
		if own.NoNewPrivileges {
			out.SecurityContext.AllowPrivilegeEscalation = new(false)
		}
		if own.Unconfined {
			out.SecurityContext.Seccomp = &SeccompProfile{Type: "Unconfined"}
		}
		if own.SeccompProfile != "" {
			out.SecurityContext.Seccomp = &SeccompProfile{Type: "Localhost", LocalhostProfile: own.SeccompProfile}
		}
		out.SecurityContext.Capabilities.Add, out.SecurityContext.Capabilities.Drop = own.CapAdd, own.CapDrop
	}
}

// bytes returns an amount of memory as a quantity.
func bytes(n int64) Quantity {
	if n%(1<<20) == 0 {
		return quantity(n>>20, "Mi")
	}
	return quantity(n, "")
}

// quantity returns a number with its unit, or "" for 0.
func quantity(n int64, unit string) Quantity {
	if n == 0 {
		return ""
	}
	return Quantity(fmt.Sprint(n, unit))
}
