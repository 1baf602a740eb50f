package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kubelet14/kubelet/e2e/hosttest"
)

// shop has what people paste: a database with its claim and its Secret, and a site with a Service of a load balancer, as two
// Deployments with what a cluster needs beside them.
const shop = `apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: Secret
metadata: {name: db-pass}
type: Opaque
stringData: {password: changeme}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: db-data, labels: {app: shop}}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 20Gi}}}
---
apiVersion: v1
kind: Service
metadata: {name: db, labels: {app: shop}}
spec: {clusterIP: None, ports: [{port: 8080}], selector: {app: shop, tier: db}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: db, labels: {app: shop}}
spec:
  selector: {matchLabels: {app: shop, tier: db}}
  strategy: {type: Recreate}
  template:
    metadata: {labels: {app: shop, tier: db}}
    spec:
      containers:
      - name: main
        image: HELLO
        command: [/hello, serve, -port, "8080", -show, /data]
        env:
        - name: ROOT_PASSWORD
          valueFrom: {secretKeyRef: {name: db-pass, key: password}}
        ports: [{containerPort: 8080, name: db}]
        volumeMounts: [{name: data, mountPath: /data}]
      volumes:
      - name: data
        persistentVolumeClaim: {claimName: db-data}
---
apiVersion: v1
kind: Service
metadata: {name: site}
spec: {type: LoadBalancer, ports: [{port: 80, targetPort: 8080}], selector: {app: shop, tier: site}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: site}
spec:
  replicas: REPLICAS
  selector: {matchLabels: {app: shop, tier: site}}
  template:
    metadata: {labels: {app: shop, tier: site}}
    spec:
      serviceAccountName: site
      containers:
      - name: main
        image: HELLO
        command: [/hello, serve, -port, "8080"]
        env: [{name: DB_HOST, value: db}, {name: EDITION, value: "NUMBER"}]
        resources: {requests: {cpu: 100m, memory: 20Mi}}
`

// A file of Deployments runs as it is pasted; scaled, edited, killed, restarted by the word and removed it does what its reader expects,
// and the data of its claim is there at the end, also after -cleanup.
func TestIntegrationPastedDeployments(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	write := func(replicas, edit string) {
		h.Write("shop", strings.NewReplacer("REPLICAS", replicas, "NUMBER", edit).Replace(shop))
	}
	write("2", "1")
	for flag, words := range map[string]string{"-feature_gates=Services=false": "this program runs no Service", "-pod_network=bridge": "kind: not supported"} {
		h.Run("-config="+h.Manifests, "-dry_run", flag).MustExit(t, 1, words)
	}
	p := h.Start()
	p.AwaitUp("db-0", "site-0", "site-1")
	for _, words := range []string{"left out Namespace shop: ", "left out PersistentVolumeClaim db-data: ", "spec.type (hostPort publishes a port)",
		"nothing forwards port 80: connect to 8080", "mean nothing here: spec.strategy"} {
		p.AwaitLog(words)
	}
	p.AwaitRun("site-0", "fetch http://db:8080/", "Hello from pod db-0.")
	p.AwaitRun("db-0", "fetch http://site.default.svc.cluster.local:8080/", "Hello from pod site-")
	p.AwaitRun("db-0", "env", "ROOT_PASSWORD=changeme")
	p.AwaitRun("site-1", "env", "DB_HOST=db", "SITE_SERVICE_PORT=8080")
	claim := filepath.Join(h.RootDir, "claims/default/db-data")
	h.Must(os.WriteFile(filepath.Join(claim, "orders"), []byte("three\n"), 0o644))
	p.AwaitRun("site-0", "fetch http://db:8080/", "three")

	before := h.IDs()
	write("3", "1")
	p.AwaitUp("site-2")
	h.MustBe("a replica more", before, "site-2")
	write("1", "1")
	h.AwaitGone("site-1", "site-2")
	h.MustBe("two replicas less", before, "site-1", "site-2")
	old := h.Live("site-0", "main")
	write("1", "2")
	h.AwaitReplaced(old)
	p.AwaitRun("site-0", "env", "EDITION=2")
	h.MustBe("an edit of the site", before, "site-0", "site-1", "site-2")
	h.Mend("db-0")
	old = h.Live("db-0", "main")
	h.MustRun("restart", "db-0")
	h.AwaitReplaced(old)
	p.AwaitUp("db-0")
	p.AwaitRun("site-0", "fetch http://db:8080/", "three")

	h.Remove("shop")
	h.WriteSleepers("other") // a source without pods is not believed at once
	h.AwaitGone("db-0", "site-0")
	p.Stop()
	h.MustRun("-cleanup").MustExit(t, 0, "sudo rm -rf "+claim)
	if data, err := os.ReadFile(filepath.Join(claim, "orders")); string(data) != "three\n" || err != nil {
		t.Errorf("the claim has %q, %v", data, err)
	}
}

// The pods of a StatefulSet know each other by their numbers, each with a claim of its own; one that goes and comes back has its data.
// A DaemonSet is one pod, and a Job ends.
func TestIntegrationPastedSets(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	sets := func(replicas string) string {
		return `apiVersion: v1
kind: Service
metadata: {name: ring, labels: {app: ring}}
spec: {ports: [{port: 8080, name: web}], clusterIP: None, selector: {app: ring}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: ring}
spec:
  selector: {matchLabels: {app: ring}}
  serviceName: ring
  replicas: ` + replicas + `
  minReadySeconds: 10
  template:
    metadata: {labels: {app: ring}}
    spec:
      terminationGracePeriodSeconds: 10
      securityContext: {fsGroup: 2000}
      containers:
      - name: main
        image: HELLO
        command: [/hello, serve, -port, "8080", -show, /data]
        ports: [{containerPort: 8080, name: web}]
        volumeMounts: [{name: data, mountPath: /data, subPath: web}]
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], storageClassName: fast, resources: {requests: {storage: 1Gi}}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: watcher}
spec:
  selector: {matchLabels: {name: watcher}}
  updateStrategy: {type: RollingUpdate}
  template:
    metadata: {labels: {name: watcher}}
    spec:
      tolerations: [{key: node-role.kubernetes.io/control-plane, operator: Exists, effect: NoSchedule}]
      containers:
      - name: main
        image: HELLO
        command: [/hello, sleep]
        volumeMounts: [{name: log, mountPath: /var/log, readOnly: true}]
      volumes: [{name: log, hostPath: {path: /var/log}}]
---
apiVersion: batch/v1
kind: Job
metadata: {name: count}
spec:
  backoffLimit: 4
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: HELLO, command: [/hello, exit, "0"]}]
`
	}
	h.Write("sets", sets("3"))
	p := h.Start()
	p.AwaitUp("ring-0", "ring-1", "ring-2", "watcher")
	h.Await("the Job has ended", func() error { return h.Ended("count") })
	p.AwaitRun("ring-2", "fetch http://ring-0.ring:8080/", "Hello from pod ring-0.")
	before := h.IDs()
	data := filepath.Join(h.RootDir, "claims/default/data-ring-2/web")
	if info, err := os.Stat(data); err != nil || info.Mode() != os.ModeDir|os.ModeSetgid|0o777 {
		t.Errorf("the claim with an fsGroup: %v, %v", info.Mode(), err)
	}
	h.Must(os.WriteFile(filepath.Join(data, "name"), []byte("second\n"), 0o644))
	h.Write("sets", sets("2"))
	h.AwaitGone("ring-2")
	h.Write("sets", sets("3"))
	h.MustServe("ring-2", "/")
	h.Must(h.Ask("ring-2", "/", "second"))
	h.MustBe("a pod that went and came back", before, "ring-2")
	link := filepath.Join(h.RootDir, "claims/default/data-ring-3/web")
	h.Must(os.Mkdir(filepath.Dir(link), 0o777))
	h.Must(os.Symlink("/etc", link)) // as a program that could write there would
	h.Write("sets", sets("4"))
	p.AwaitShows("ring-3/main", "waiting", "CannotCreate: ", link, "remove it")
	h.Must(os.Remove(link))
	p.AwaitUp("ring-3")
}

// Charts mount parts of one emptyDir, which an init container with all of it makes before.
func TestIntegrationPartsMadeByAnInitContainer(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.Write("pod", `apiVersion: v1
kind: Pod
metadata: {name: pod}
spec:
  initContainers:
  - name: first
    image: HELLO
    command: [/hello, append, -for, 0s, /all/page, made before]
    volumeMounts: [{name: work, mountPath: /all}]
  containers:
  - name: main
    image: HELLO
    command: [/hello, serve, -port, "8080", -show, /page]
    ports: [{containerPort: 8080}]
    volumeMounts: [{name: work, mountPath: /page, subPath: page}, {name: work, mountPath: /tmp, subPath: tmp}]
  volumes: [{name: work}]
`)
	p := h.Start()
	p.AwaitUp("pod")
	h.MustServe("pod", "/")
	h.Must(h.Ask("pod", "/", "made before"))
	h.Must(hosttest.DirHolds(filepath.Join(h.EmptyDirs(h.UID("pod")), "work"), "page", "tmp"))
	h.MustRun("restart", "pod")
	h.MustServe("pod", "/")
	h.Must(h.Ask("pod", "/", "made before\nmade before"))
}
