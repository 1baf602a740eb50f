package config

import (
	"fmt"
	"strings"
	"testing"

	"kubelet14/api/unittest"
	"kubelet14/api/v1"
)

func service(name, namespace, selector string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: Service\nmetadata: {name: %s, namespace: %s}\nspec: {selector: {%s}}", name, namespace, selector)
}

func labelled(pod, labels string) string {
	return strings.Replace(pod, "metadata: {", "metadata: {labels: {"+labels+"}, ", 1)
}

// expectServices settles and checks the names of the services that each pod has, such as "web=db,queue", and words of the error.
func (f *fileTest) expectServices(want string, words ...string) {
	f.t.Helper()
	f.settle()
	var got []string
	for _, pod := range f.last.Pods {
		var names []string
		addServices(&pod, f.last.Services)
		for _, service := range pod.Manifest.Services {
			names = append(names, service.Name)
		}
		got = append(got, pod.Name+"="+strings.Join(names, ","))
	}
	if text := strings.Join(got, " "); text != want {
		f.t.Errorf("pods and services: %q, want %q (%v)", text, want, f.last.Err)
	}
	for _, word := range words {
		if !strings.Contains(fmt.Sprint(f.last.Err), word) {
			f.t.Errorf("the error is %v, want %q", f.last.Err, word)
		}
	}
	if len(words) == 0 && f.last.Err != nil {
		f.t.Error(f.last.Err)
	}
}

func TestPodsGetTheServicesOfTheirNamespace(t *testing.T) {
	f := newFileTest(t)
	v1.AddServices(f.parser.Scheme, true)
	db := labelled(todaysPod("db", "shop", "db:1", ""), "app: db")
	f.write("pods.yaml", db, todaysPod("web", "shop", "web:1", ""), todaysPod("other", "team", "web:1", ""))
	f.expectServices("db= web= other=")
	f.write("z.yaml", service("queue", "shop", "app: queue"), service("db", "shop", "app: db"))
	f.expectServices("db=db,queue web=db,queue other=")
	f.write("a.yaml", service("queue", "shop", "app: queue"))
	f.expectServices("db=db,queue web=db,queue other=", `service "queue" is in`, "a.yaml", "z.yaml", "keep one of them")
	f.remove("a.yaml")
	f.write("z.yaml", "apiVersion: v1\nkind: Service")
	f.expectServices("db=db,queue web=db,queue other=", "spec.selector: required value")
	f.write("z.yaml", service("web", "shop", "app: db"), service("web", "team", "app: db"))
	f.expectServices("db= web= other=web", `service "web"`, "z.yaml (document 1)", "has the name of a pod that it does not select", "pods.yaml (document 2)")
	var many, names []string
	for i := range 10_000 {
		many = append(many, service(fmt.Sprintf("s%05d", i), "team", "a: b"))
		names = append(names, fmt.Sprintf("s%05d", i))
	}
	f.write("z.yaml", many...)
	f.expectServices("db= web= other="+strings.Join(names[:maxServices/2], ","), `service "s00150"`, "and those after it are too many: 300 services, ports and labels")
	f.remove("z.yaml")
	f.expectServices("db= web= other=")
}

// A named target port is the port of the pods with that name. The log names the port that nothing forwards, and the
// fields that are left out.
func TestNamedPortsOfServices(t *testing.T) {
	f, log := newFileTest(t), unittest.Log(t, "0")
	v1.AddServices(f.parser.Scheme, true)
	web := func(port int) string {
		return strings.Replace(labelled(todaysPod("web", "shop", "web:1", ""), "app: web"), "image:", fmt.Sprintf("ports: [{name: http, containerPort: %d}], image:", port), 1)
	}
	f.write("a.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}", service("pages", "shop", "app: web")[:len(service("pages", "shop", "app: web"))-1]+", ports: [{port: 80, targetPort: http}]}")
	for i, test := range []struct{ port, lines int }{{8080, 1}, {80, 1}, {8080, 2}} {
		f.write("web.yaml", web(test.port))
		f.expectServices("web=pages")
		if port := f.last.Services[0].Ports[0].ContainerPort; port != test.port {
			t.Errorf("%d: the port is %d, want %d", i, port, test.port)
		}
		if n := strings.Count(log(), "service pages (") - strings.Count(log(), "a.yaml (document 1): left out Namespace shop: "); n != test.lines-1 ||
			strings.Count(log(), "spec.ports[0].port (nothing forwards port 80: connect to 8080") != test.lines {
			t.Errorf("%d: the log is\n%s", i, log())
		}
	}
}
