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

			_ api.Ignored `fields:"appProtocol"`
			_ api.Ignored `fields:"nodePort" why:"hostPort publishes a port"`
		} `json:"ports"`
		Type string `json:"type"`

		_ api.Ignored     `fields:"clusterIP" default:"None" why:"pods are found by their own addresses"`
		_ api.Ignored     `fields:"sessionAffinity" default:"None"`
		_ api.Ignored     `fields:"clusterIPs internalTrafficPolicy ipFamilies ipFamilyPolicy publishNotReadyAddresses trafficDistribution"`
		_ api.Ignored     `fields:"allocateLoadBalancerNodePorts externalIPs externalTrafficPolicy healthCheckNodePort"`
		_ api.Ignored     `fields:"loadBalancerClass loadBalancerIP loadBalancerSourceRanges sessionAffinityConfig"`
		_ api.Unsupported `fields:"externalName" instead:"write the name itself where it is used"`
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
		if published := lookup(&errs, "spec.type", in.Spec.Type, serviceTypes); published {
			out.Ignored = append(out.Ignored, "spec.type (hostPort publishes a port)")
		}
		if len(in.Spec.Selector) == 0 {
			errs.Add("spec.selector", "required value '': write labels of the Pods that get the name")
		}
		out.Targets = make([]string, len(in.Spec.Ports))
		for i, p := range in.Spec.Ports {
			path := fmt.Sprintf("spec.ports[%d].", i)
			isPort := p.ContainerPort >= 1 && p.ContainerPort <= 65535
			if !isPort {
				errs.Add(path+"port", "invalid value '%d': use 1-65535", p.ContainerPort)
			}
			out.Ports[i].Protocol = lookup(&errs, path+"protocol", p.Protocol, protocols)
			switch target, err := strconv.Atoi(p.TargetPort.String()); {
			case err != nil:
				out.Targets[i] = p.TargetPort.Str
			case target < 0 || target > 65535:
				errs.Add(path+"targetPort", "invalid value '%d': use 1-65535, or the name of a port of a container", target)
			case target > 0 && isPort:
				out.SetTarget(i, target)
			}
		}
		return errs
	})
}

// serviceTypes are the types of Services that can be read; true: in a cluster it publishes its ports.
var serviceTypes = map[string]bool{"": false, "ClusterIP": false, "NodePort": true, "LoadBalancer": true}

var protocols = map[string]api.Protocol{"": api.ProtocolTCP, "TCP": api.ProtocolTCP, "UDP": api.ProtocolUDP}

// FieldPath translates the path of a field of api.Service to its path in a Service.
func (*Service) FieldPath(internal string) string { return objectPath(internal, "spec.") }
