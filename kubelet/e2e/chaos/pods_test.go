//go:build chaos

package chaos

import (
	"cmp"
	"fmt"
	"strings"
)

// pod is a manifest: what the world wants. A workload has several replicas, each a pod of Docker.
type pod struct {
	kind     *kind
	name     string
	file     string // its name in the directory; empty: it comes from the web server
	version  int    // of its container "main"
	replicas int
	there    bool
}

// names returns the names of its pods.
func (p *pod) names() (names []string) {
	if !p.kind.numbered {
		return []string{p.name}
	}
	for i := range p.replicas {
		names = append(names, fmt.Sprintf("%s-%d", p.name, i))
	}
	return names
}

// containers returns the names of its containers, in the order of its starts.
func (p *pod) containers() []string {
	return append(append([]string{}, p.kind.init...), "main", "side")
}

// kind is a kind of pod. Every pod has the containers "main", which edits change, and "side", which none changes.
type kind struct {
	name     string
	count    int
	web      bool // from the web server
	numbered bool // a workload
	v1beta1  bool
	policy   string // empty: Always
	flags    string // of main
	fields   string // of main
	volume   string // for the data of main; empty: none
	keeps    bool   // the data of a pod that is removed
	init     []string
	sidecar  bool   // the init containers go on beside the others
	before   string // documents
}

var kinds = []kind{
	{name: "plain", count: 4, v1beta1: true},
	{name: "data", count: 4, volume: "emptyDir: {}"},
	{name: "claim", count: 2, volume: "persistentVolumeClaim: {claimName: NAME}", keeps: true},
	{name: "init", count: 3, volume: "emptyDir: {}", init: []string{"first", "second"}},
	{name: "sidecar", count: 2, init: []string{"helper"}, sidecar: true},
	{name: "probed", count: 3, flags: "-serve", fields: `
    startupProbe: {exec: {command: [/tenant, probe]}, periodSeconds: 1, timeoutSeconds: 60, failureThreshold: 1000}
    livenessProbe: {exec: {command: [/tenant, probe]}, periodSeconds: 1, timeoutSeconds: 60, failureThreshold: 1}`},
	{name: "hooked", count: 3, fields: `
    lifecycle:
      postStart: {exec: {command: [/tenant, note, main, postStart]}}
      preStop: {exec: {command: [/tenant, note, main, preStop]}}`},
	{name: "config", count: 2, fields: `
    envFrom: [{configMapRef: {name: NAME}}, {secretRef: {name: NAME}}]`, volume: "configMap: {name: NAME}", before: `apiVersion: v1
kind: ConfigMap
metadata: {name: NAME}
data: {version: "VERSION"}
---
apiVersion: v1
kind: Secret
metadata: {name: NAME}
stringData: {PASSWORD: s3cret}
---
`},
	{name: "port", count: 3, fields: `
    ports: [{containerPort: 8080, hostPort: PORT}]`, flags: "-serve"},
	{name: "failing", count: 2, policy: "OnFailure"},
	{name: "never", count: 2, policy: "Never"},
	{name: "once", count: 1, policy: "Never", flags: "-for 1s"},
	{name: "crashing", count: 1, flags: "-for 3s -exit 1"},
	{name: "deploy", count: 1, numbered: true, volume: "emptyDir: {}"},
	{name: "set", count: 1, numbered: true, volume: "persistentVolumeClaim: {claimName: NAME}", keeps: true},
	{name: "web", count: 4, web: true, volume: "emptyDir: {}"},
}

const replicas = 3 // of a workload, at first

// newPods returns the pods of the beginning.
func newPods() (pods []*pod) {
	for i := range kinds {
		k := &kinds[i]
		for n := range k.count {
			p := &pod{kind: k, name: fmt.Sprintf("%s-%c", k.name, 'a'+n), replicas: replicas, there: true}
			if !k.web {
				p.file = p.name
			}
			pods = append(pods, p)
		}
	}
	return pods
}

const oldManifest = `version: v1beta1
id: NAME
volumes: [{name: journal, source: {hostDir: {path: JOURNAL}}}]
containers:
  - name: main
    image: IMAGE
    command: [/tenant, run, main, "VERSION"]
    volumeMounts: [{name: journal, mountPath: /journal}]
  - name: side
    image: IMAGE
    command: [/tenant, run, side, "0"]
    volumeMounts: [{name: journal, mountPath: /journal}]
`

const spec = `  restartPolicy: POLICY
  terminationGracePeriodSeconds: 5
  volumes:
  - {name: journal, hostPath: {path: JOURNAL}}
VOLUME
INIT
  containers:
  - name: main
    image: IMAGE
    command: [/tenant, run, main, "VERSION"FLAGS]
    volumeMounts: [MOUNTS]FIELDS
  - {name: side, image: IMAGE, command: [/tenant, run, side, "0"], volumeMounts: [{name: journal, mountPath: /journal}]}
`

const image = "kubelet14/tenant:1"

// manifest returns the text of a manifest.
func (p *pod) manifest(journal string) string {
	k, flags, mounts, volume := p.kind, "", "{name: journal, mountPath: /journal}", ""
	for _, f := range strings.Fields(k.flags) {
		flags += fmt.Sprintf(", %q", f)
	}
	if k.volume != "" {
		mounts += ", {name: data, mountPath: /data}"
		volume = "  - {name: data, " + k.volume + "}"
	}
	if p.counts() {
		flags += ", -data, /data"
	}
	init := ""
	more := "-for, 1ms]"
	if k.sidecar {
		more = "-serve], restartPolicy: Always"
	}
	for _, name := range k.init {
		init += fmt.Sprintf("\n  - {name: %s, image: IMAGE, command: [/tenant, run, %[1]s, \"0\", "+more+", volumeMounts: [{name: journal, mountPath: /journal}]}", name)
	}
	if init != "" {
		init = "  initContainers:" + init
	}
	text := "apiVersion: v1\nkind: Pod\nmetadata: {name: NAME}\nspec:\n" + spec
	switch {
	case k.v1beta1:
		text = oldManifest
	case k.numbered:
		text = fmt.Sprintf("apiVersion: apps/v1\nkind: WORKLOAD\nmetadata: {name: NAME}\nspec:\n  replicas: %d\n  selector: {matchLabels: {app: NAME}}\n"+
			"  template:\n    metadata: {labels: {app: NAME}}\n    spec:\n", p.replicas) + strings.ReplaceAll("    "+spec, "\n", "\n    ")
		workload := "Deployment"
		if k.keeps {
			workload, text = "StatefulSet", text+"\n  volumeClaimTemplates: [{metadata: {name: data}}]\n"
			volume = ""
		}
		text = strings.Replace(text, "WORKLOAD", workload, 1)
	}
	return strings.NewReplacer("POLICY", cmp.Or(k.policy, "Always"), "JOURNAL", journal, "VOLUME", strings.ReplaceAll(volume, "NAME", p.name), "INIT", strings.ReplaceAll(init, "IMAGE", image),
		"IMAGE", image, "VERSION", fmt.Sprint(p.version), "FLAGS", flags, "MOUNTS", mounts, "NAME", p.name,
		"FIELDS", strings.NewReplacer("NAME", p.name, "PORT", fmt.Sprint(p.port())).Replace(k.fields)).Replace(k.before + text)
}

// port returns its port of the host, if it has one.
func (p *pod) port() int { return 20000 + int(p.name[len(p.name)-1]) }

// crashes reports whether a container ends and starts all the time.
func (p *pod) crashes(of string) bool { return p.kind.name == "crashing" && of == "main" }

// counts reports whether its container "main" counts its starts in its volume.
func (p *pod) counts() bool { return p.kind.volume != "" && p.kind.before == "" }
