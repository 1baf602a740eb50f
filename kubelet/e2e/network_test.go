package e2e

import (
	"errors"
	"strings"
	"testing"

	docker "github.com/fsouza/go-dockerclient"

	"kubelet14/api/unittest"
	"kubelet14/kubelet/e2e/hosttest"
)

// Two kubelets share a network, which is removed with the last one. Both have a pod of the same name and uuid, whose
// containers even want the same names in Docker.
func TestIntegrationPodsFindEachOtherByName(t *testing.T) {
	t.Parallel()
	hosttest.Prepare(t)
	client, err := hosttest.Connect("")
	unittest.Must(t, err)
	other := hosttest.MakeNetwork(t, client, "another") // the first by name
	name := other.Name + "-names"                       // the pods of other tests have the same names
	t.Cleanup(func() {                                  // after -cleanup of both
		if _, err := client.NetworkInfo(name); !errors.As(err, new(*docker.NoSuchNetwork)) {
			t.Errorf("the network is left: %v", err)
		}
	})
	a, b := newHost(t), newHost(t)
	a.Network, b.Network = name, name
	const serve = `/hello, serve, -port, "8080"`
	a.Write("web", hosttest.Block("web", serve))
	a.Write("db", hosttest.Block("db", serve))
	b.Write("db.v2", hosttest.Block("db.v2", serve))
	for _, h := range []*host{a, b} {
		h.Write("same", hosttest.Sleeper("same")+"uuid: "+a.Hostname+"\n")
	}
	p := a.Start("-sync_frequency=200ms")
	ofB := b.Start()
	awaitFound := func(name, pod string) {
		t.Helper()
		p.AwaitRun("web", "fetch http://"+name+":8080/", "Hello from pod "+pod+".")
	}
	for name, pod := range map[string]string{"db": "db", "db.default": "db", "db.v2": "db.v2", "db.v2.default": "db.v2"} {
		awaitFound(name, pod)
	}

	a.AwaitUp("web", "db", "same")
	b.AwaitUp("db.v2", "same")
	running := a.IDs()
	b.Mend("same")
	a.MustBe("beside a second kubelet that has repaired its pod", running)
	ofSecond := b.IDs()

	before := hosttest.Address(a.MustInspect(a.Live("db", "net").ID))
	a.Remove("db")
	a.AwaitGone("db")
	a.WriteSleepers("new") // it gets the lowest address that is free
	a.AwaitUp("new")
	a.Write("db", hosttest.Block("db", serve))
	a.AwaitUp("db")
	net := a.Live("db", "net")
	if now := hosttest.Address(a.MustInspect(net.ID)); now == before {
		t.Errorf("db has the address %s again, so this test shows nothing", now)
	}
	awaitFound("db", "db")

	running = a.IDs()
	a.Must(a.Docker.ConnectNetwork(other.ID, docker.NetworkConnectionOptions{Container: net.ID}))
	a.Mend("web")
	a.MustBe("when db is in another network too", running, "web")
	a.Must(a.Docker.DisconnectNetwork(name, docker.NetworkConnectionOptions{Container: net.ID})) // it stays in the other one
	a.AwaitReplaced(net)
	a.AwaitUp("db")
	awaitFound("db", "db")

	a.Remove("same")
	a.AwaitGone("same")
	b.MustBe("when the first kubelet has removed its pod", ofSecond)
	running = a.IDs()
	ofB.Stop()
	b.MustRun("-cleanup")
	a.MustBe("when the second kubelet and all its pods are gone", running)
	a.Mend("db") // the network is still there
}

const namedPod = `apiVersion: v1
kind: Pod
metadata: {name: web, namespace: NAMESPACE}
spec:
  hostname: HOSTNAME
  containers:
  - {name: main, image: HELLO, command: [/hello, serve, -port, "8080"]}
`

// A name without a namespace is the pod of that name in the same namespace of the same kubelet, and no other.
func TestIntegrationLongNamesBelongToOneNamespaceAndKubelet(t *testing.T) {
	t.Parallel()
	a, b := newHost(t), newHost(t)
	write := func(h *host, namespace, hostname string) {
		h.Write(hostname, strings.NewReplacer("NAMESPACE", namespace, "HOSTNAME", hostname).Replace(namedPod))
	}
	write(a, "default", "one")
	write(a, "team", "two")
	write(b, "default", "three")
	p, ofB := a.Start(), b.Start()
	for _, p := range []*hosttest.Process{p, ofB} {
		p.AwaitUp("web")
	}
	p.AwaitLog("web.team.file", "is up")
	for range 10 { // with two addresses each lookup would begin with one or the other
		for _, tt := range []struct {
			p                      *hosttest.Process
			namespace, name, finds string
		}{
			{p, "default", "web", "one"}, {p, "default", "web.team", "two"}, {p, "default", "web.default", "one"},
			{p, "team", "web", "two"}, {p, "team", "web.default", "one"}, {ofB, "default", "web", "three"},
		} {
			url := "http://" + tt.name + ":8080/"
			r := tt.p.MustAsk("POST", "/run/"+tt.namespace+"/web/main?cmd=/hello&cmd=fetch&cmd=-try&cmd=1m&cmd="+url)
			if !strings.Contains(r.Body, "Hello from pod "+tt.finds+".") {
				t.Fatalf("in namespace %s %s is %s, want %s", tt.namespace, tt.name, r.Body, tt.finds)
			}
		}
	}
}
