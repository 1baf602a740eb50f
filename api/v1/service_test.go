package v1_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubelet14/api"
	"kubelet14/api/v1"
	"kubelet14/api/validation"
)

// decodeService reads a Service with this spec, by a scheme of a kubelet whose pods have names or not.
func decodeService(spec string, names bool) ([]api.Document, error) {
	scheme := v1.NewScheme()
	v1.AddServices(scheme, names)
	return scheme.Decode("f", []byte("apiVersion: v1\nkind: Service\nmetadata: {name: db, namespace: shop, labels: {a: b}}\nspec: "+spec+"\n"),
		validation.Rules{}.Validate)
}

func TestService(t *testing.T) {
	docs, err := decodeService("{type: ClusterIP, clusterIP: None, clusterIPs: [None], sessionAffinity: None, selector: {app: db}, "+
		`ports: [{name: sql, port: 5432, targetPort: 5432}, {port: 53, targetPort: "53", protocol: UDP, appProtocol: dns}, `+
		"{name: http, port: 80, targetPort: web}]}", true)
	if err != nil {
		t.Fatal(err)
	}
	want := []api.Document{{Service: &api.Service{
		Name: "db", Namespace: "shop", Ignored: []string{"spec.clusterIPs", "spec.ports[1].appProtocol"}, Selector: map[string]string{"app": "db"},
		Ports:   []api.Port{{Name: "sql", ContainerPort: 5432, Protocol: "TCP"}, {ContainerPort: 53, Protocol: "UDP"}, {Name: "http", ContainerPort: 80, Protocol: "TCP"}},
		Targets: []string{"", "", "web"},
	}}}
	if diff := cmp.Diff(want, docs); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The parts of a Service that this program does not provide are named, and its ports are those of the pods.
func TestServicesOfAProxy(t *testing.T) {
	for spec, want := range map[string]string{
		"{type: NodePort, selector: {a: b}, ports: [{port: 80, nodePort: 30080}]}":           "[spec.ports[0].nodePort (hostPort publishes a port) spec.type (hostPort publishes a port)] [80]",
		"{type: LoadBalancer, selector: {a: b}, loadBalancerIP: 10.0.0.1}":                   "[spec.loadBalancerIP spec.type (hostPort publishes a port)] []",
		"{clusterIP: 10.0.0.1, selector: {a: b}}":                                            "[spec.clusterIP (pods are found by their own addresses)] []",
		"{sessionAffinity: ClientIP, selector: {a: b}}":                                      "[spec.sessionAffinity] []",
		"{selector: {a: b}, ports: [{port: 443}, {port: 80, targetPort: 8080}]}":             "[spec.ports[1].port (nothing forwards port 80: connect to 8080, or publish that with hostPort)] [443 8080]",
		"{selector: {a: b}, ports: [{port: 80, targetPort: 80}, {port: 81, targetPort: 0}]}": "[] [80 81]",
	} {
		docs, err := decodeService(spec, true)
		if err != nil {
			t.Errorf("%s: %v", spec, err)
			continue
		}
		var ports []int
		for _, p := range docs[0].Service.Ports {
			ports = append(ports, p.ContainerPort)
		}
		if got := fmt.Sprint(docs[0].Service.Ignored, ports); got != want {
			t.Errorf("%s:\n got %s\nwant %s", spec, got, want)
		}
	}
}

func TestServicesThatAreRefused(t *testing.T) {
	for spec, want := range map[string]string{
		"{ports: [{port: 80}]}": "f:4:7: spec.selector: required value '': write labels of the Pods",
		"{type: ExternalName, externalName: a.b, selector: {a: b}}":                                                 "f:4:28: spec.externalName: not supported: write the name itself where it is used",
		"{type: ExternalName, selector: {a: b}}":                                                                    "f:4:14: spec.type: unsupported value 'ExternalName': use ClusterIP, LoadBalancer or NodePort",
		"{selector: {a: b}, ports: [{port: 80, targetPort: 70000}]}":                                                "spec.ports[0].targetPort: invalid value '70000': use 1-65535, or the name",
		"{selector: {a: b}, ports: [{port: 80, protocol: SCTP}]}":                                                   "spec.ports[0].protocol: unsupported value 'SCTP': use TCP or UDP",
		"{selector: {a: b}, ports: [{port: 70000}]}":                                                                "spec.ports[0].port: invalid value '70000': use 1-65535",
		"{selector: {a: b}, ports: [{name: x}]}":                                                                    "spec.ports[0].port: invalid value '0': use 1-65535",
		`{selector: {a: b}, ports: [{port: 80, name: "x=\n"}]}`:                                                     "f:4:51: spec.ports[0].name: invalid value",
		"{selector: {a: b}, ports: [{port: 80, name: x}, {port: 81, name: x}]}":                                     "spec.ports[1].name: duplicate value 'x'",
		"{selector: {a: b}}\n---\n{apiVersion: v1, kind: Service, metadata: {name: a.b}, spec: {selector: {a: b}}}": "metadata.name: invalid value 'a.b'",
	} {
		_, err := decodeService(spec, true)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", spec, err, want)
		} else if excerpt := api.WithExcerpts(err); !strings.Contains(excerpt, "\n> ") {
			t.Errorf("%s: no excerpt in %s", spec, excerpt)
		}
	}
	if _, err := decodeService("{selector: {a: b}}", false); err == nil || !strings.Contains(err.Error(), "f:2:7: kind: not supported: with -pod_network=bridge") {
		t.Errorf("without names: %v", err)
	}
}
