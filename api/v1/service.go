package v1

import (
	"fmt"
	"strconv"

	"kubelet14/api"
)

// Service gives pods a common name. There is no proxy: the name stands for the addresses of the pods, with their own ports.
type Service struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   Metadata `json:"metadata"`
	Spec       struct {
		Selector map[string]string `json:"selector"`
		Ports    []struct {
			Name          string          `json:"name"`
			Protocol      string          `json:"protocol"`
			ContainerPort int             `json:"port"`
			TargetPort    api.IntOrString `json:"targetPort"`

			_ api.Ignored     `fields:"appProtocol"`
			_ api.Unsupported `fields:"nodePort" instead:"use hostPort in the Pod"`
		} `json:"ports"`

		_ api.Ignored     `fields:"clusterIPs internalTrafficPolicy ipFamilies ipFamilyPolicy publishNotReadyAddresses trafficDistribution"`
		_ api.Unsupported `fields:"type" default:"ClusterIP" instead:"use hostPort in the Pod, and instead of an ExternalName the name itself"`
		_ api.Unsupported `fields:"clusterIP" default:"None" instead:"pods are found by their own addresses; remove it"`
		_ api.Unsupported `fields:"sessionAffinity" default:"None"`
	} `json:"spec"`

	_ api.Ignored `fields:"status"`
}

// AddServices lets the scheme decode Services. If the pod network has no names, each Service is refused.
func AddServices(s *api.Scheme, names bool) {
	s.AddKnownTypes(api.VersionV1, Service{})
	api.AddInternalConversion(s, api.VersionV1, func(in *Service, out *api.Service) (errs api.Mistakes) {
		api.Copy(out, &in.Spec)
		out.Name, out.Namespace = in.Metadata.ID, in.Metadata.Namespace
		if !names {
			errs.Add("kind", "not supported: with -pod_network=bridge pods have no names")
		}
		if len(in.Spec.Selector) == 0 {
			errs.Add("spec.selector", "required value '': write labels of the Pods that get the name")
		}
		for i, p := range in.Spec.Ports {
			path, port := fmt.Sprintf("spec.ports[%d].", i), strconv.Itoa(p.ContainerPort)
			if p.ContainerPort < 1 || p.ContainerPort > 65535 {
				errs.Add(path+"port", "invalid value '%s': use 1-65535", port)
			} else if target := p.TargetPort.String(); target != "0" && target != port {
				errs.Add(path+"targetPort", "unsupported value '%s': nothing forwards port %s, so write the container's port in both", target, port)
			}
			out.Ports[i].Protocol = lookup(&errs, path+"protocol", p.Protocol, protocols)
		}
		return errs
	})
}

var protocols = map[string]api.Protocol{"": api.ProtocolTCP, "TCP": api.ProtocolTCP, "UDP": api.ProtocolUDP}

// FieldPath translates the path of a field of api.Service to its path in a Service.
func (*Service) FieldPath(internal string) string {
	if internal == "name" || internal == "namespace" {
		return "metadata." + internal
	}
	return "spec." + internal
}
