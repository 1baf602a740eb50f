package v1_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubelet14/api"
	"kubelet14/api/v1"
)

// pod returns the text of a Pod with more in its spec and in its container.
func pod(spec, container string) []byte {
	return []byte("apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n  containers:\n  - {name: a, image: b, " + container + "}\n  " + spec + "\n")
}

// Each row is what is written in the spec and in the container of a Pod, and what they become.
func TestInternalize(t *testing.T) {
	one, two := int64(1), int64(2)
	type container = api.Container
	type manifest = api.ContainerManifest
	for name, tt := range map[string]struct {
		spec, container string
		want            manifest
	}{
		"command": {"", "command: [a], args: [b]", manifest{Containers: []container{{Entrypoint: []string{"a"}, Command: []string{"b"}}}}},
		"resources": {"", "resources: {limits: {cpu: 2, memory: 64Mi}, requests: {cpu: 250m, memory: 1Gi}}",
			manifest{Containers: []container{{CPU: 250, CPULimit: 2000, Memory: 64 << 20, MemoryRequest: 1 << 30}}}},
		"field": {"", "env: [{name: A, valueFrom: {fieldRef: {apiVersion: v1, fieldPath: status.podIP}}}]",
			manifest{Containers: []container{{Env: []api.EnvVar{{Name: "A", FieldPath: "status.podIP"}}}}}},
		"resource": {"volumes: [{name: a, downwardAPI: {items: [{path: a, resourceFieldRef: {containerName: a, resource: requests.cpu}}]}}]", "env: [{name: A, valueFrom: {resourceFieldRef: {resource: limits.memory, divisor: 1Mi}}}]",
			manifest{
				Volumes:    []api.Volume{{Name: "a", Source: &api.VolumeSource{DownwardAPI: &api.FieldFiles{Items: []api.FieldPath{{Path: "a", ResourceRef: &api.ResourceRef{Container: "a", Resource: "requests.cpu"}}}}}}},
				Containers: []container{{Env: []api.EnvVar{{Name: "A", ResourceRef: &api.ResourceRef{Resource: "limits.memory", Divisor: "1Mi"}}}}},
			}},
		"deadline": {"activeDeadlineSeconds: 60", "", manifest{ActiveDeadlineSeconds: new(int64(60)), Containers: []container{{}}}},
		"sidecar": {"initContainers: [{name: s, image: b, restartPolicy: Always}]", "",
			manifest{InitContainers: []container{{Name: "s", Image: "b", Sidecar: true}}, Containers: []container{{}}}},
		"pull policy": {"restartPolicy: OnFailure", "imagePullPolicy: IfNotPresent",
			manifest{Containers: []container{{ImagePullPolicy: api.PullIfNotPresent}}, RestartPolicy: api.RestartPolicy{OnFailure: &api.RestartPolicyOnFailure{}}}},
		"users of the pod": {"securityContext: {runAsUser: 1, runAsGroup: 2, seccompProfile: {type: RuntimeDefault}}", "securityContext: {runAsUser: 2, privileged: true}",
			manifest{Containers: []container{{Privileged: true, SecurityContext: &api.SecurityContext{RunAsUser: &two, RunAsGroup: &two}}}}},
		"capabilities": {"", "securityContext: {runAsUser: 1, allowPrivilegeEscalation: true, capabilities: {add: [A], drop: [B]}}",
			manifest{Containers: []container{{SecurityContext: &api.SecurityContext{RunAsUser: &one, CapAdd: []string{"A"}, CapDrop: []string{"B"}}}}}},
		"no root": {"securityContext: {runAsNonRoot: true, fsGroup: 2, supplementalGroups: [1], seccompProfile: {type: Unconfined}}", "securityContext: {runAsUser: 1, allowPrivilegeEscalation: false}",
			manifest{FSGroup: &two, SupplementalGroups: []int64{1}, Containers: []container{{SecurityContext: &api.SecurityContext{RunAsUser: &one, NonRoot: true, NoNewPrivileges: true, Unconfined: true}}}}},
		"a profile": {"securityContext: {seccompProfile: {type: Localhost, localhostProfile: a}}", "securityContext: {seccompProfile: {type: Localhost, localhostProfile: b/c}}",
			manifest{Containers: []container{{SecurityContext: &api.SecurityContext{SeccompProfile: "b/c"}}}}},
		"root after all": {"securityContext: {runAsNonRoot: true, seccompProfile: {type: Unconfined}}", "securityContext: {runAsUser: 1, runAsNonRoot: false, seccompProfile: {type: RuntimeDefault}}",
			manifest{Containers: []container{{SecurityContext: &api.SecurityContext{RunAsUser: &one}}}}},
		"what a pod shares": {"hostIPC: true\n  shareProcessNamespace: true\n  subdomain: pages\n  imagePullSecrets: [{name: a}]", "stdin: true, tty: true",
			manifest{HostIPC: true, ShareProcessNamespace: true, Subdomain: "pages", Containers: []container{{Stdin: true, TTY: true}},
				Ignored: []string{"spec.imagePullSecrets (this host's docker login is used)"}}},
		"nothing secure": {"securityContext: {}", "securityContext: {privileged: false}", manifest{Containers: []container{{}}}},
		"volumes": {"volumes: [{name: a}, {name: b, emptyDir: {medium: Memory, sizeLimit: 1Gi}}, {name: c, hostPath: {path: /c, type: File}}]", "", manifest{
			Containers: []container{{}},
			Volumes: []api.Volume{{Name: "a"}, {Name: "b", Source: &api.VolumeSource{EmptyDir: &api.EmptyDir{}}},
				{Name: "c", Source: &api.VolumeSource{HostDir: &api.HostDir{Path: "/c", Type: api.HostDirFile}}}},
			Ignored: []string{"spec.volumes[1].emptyDir.medium (it is an ordinary directory of the host)", "spec.volumes[1].emptyDir.sizeLimit (it is an ordinary directory of the host)"},
		}},
		"dns": {"dnsPolicy: None\n  dnsConfig: {nameservers: [1.1.1.1], options: [{name: ndots, value: \"2\"}, {name: rotate}]}", "",
			manifest{Containers: []container{{}}, DNS: &api.DNSConfig{Nameservers: []string{"1.1.1.1"}, Options: []string{"ndots:2", "rotate"}}}},
		"of no value": {"volumes:\n  securityContext:\n  restartPolicy:", "env: , ports: null", manifest{Containers: []container{{}}}},
		"of no meaning": {"nodeName: a\n  tolerations: []\n  priority: null\n  affinity: {a: [{b: c}]}\n  hostPID: false\n  hostUsers: true\n  resources: {}\n  securityContext: {seLinuxOptions: {}}",
			"resizePolicy: {}, stdin: false, securityContext: {seLinuxOptions: {}}",
			manifest{Containers: []container{{}}, Ignored: []string{"spec.nodeName", "spec.affinity"}}},
		"mounts of the host": {"", "volumeMounts: [{name: a, mountPath: /a, mountPropagation: HostToContainer}, {name: b, mountPath: /b, mountPropagation: None}]",
			manifest{Containers: []container{{VolumeMounts: []api.VolumeMount{{Name: "a", MountPath: "/a"}, {Name: "b", MountPath: "/b"}}}},
				Ignored: []string{"spec.containers[0].volumeMounts[0].mountPropagation (what the host mounts there later does not appear)"}}},
	} {
		docs, err := v1.NewScheme().Decode("f", pod(tt.spec, tt.container), nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		tt.want.Version, tt.want.ID = "v1", "web"
		tt.want.Containers[0].Name, tt.want.Containers[0].Image = "a", "b"
		if diff := cmp.Diff(&tt.want, docs[0].Manifest); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Each row has one error.
func TestRefused(t *testing.T) {
	const c = "spec.containers[0]."
	for _, tt := range []struct{ spec, container, want string }{
		{"", "env: [{name: A, value: s3cret, valueFrom: {fieldRef: {fieldPath: a}}}]", c + "env[0].valueFrom: there is a value too: keep one of them"},
		{"", "env: [{name: A, valueFrom: {fieldRef: {apiVersion: v1}}}]", c + "env[0].valueFrom: required value '': write one of a fieldRef with a fieldPath, a resourceFieldRef, a configMapKeyRef and a secretKeyRef"},
		{"", "env: [{name: A, valueFrom: {secretKeyRef: {name: a, key: b}, configMapKeyRef: {name: a, key: b}}}]", c + "env[0].valueFrom: required value '': write one of a fieldRef with a fieldPath, a resourceFieldRef, a configMapKeyRef and a secretKeyRef"},
		{"", "env: [{name: A, valueFrom: {fileKeyRef: {key: a}}}]", c + "env[0].valueFrom.fileKeyRef: not supported: write the value itself"},
		{"volumes: [{name: a, projected: {sources: [{serviceAccountToken: {path: token}}]}}]", "", "spec.volumes[0].projected.sources[0].serviceAccountToken: not supported: remove it: there is no API server that would take it"},
		{"", "env: [{name: A, valueFrom: {fieldRef: {apiVersion: v2, fieldPath: a}}}]", c + "env[0].valueFrom.fieldRef.apiVersion: not supported: write v1"},
		{"", "resources: {limits: {memory: 64MB}}", c + "resources.limits.memory: invalid value '64MB': write a number, which may end with k, M, G, Ki, Mi, Gi, or m for thousandths"},
		{"", "resources: {limits: {cpu: 1E}}", c + "resources.limits.cpu: invalid value '1E': this number is too big"},
		{"", "imagePullPolicy: always", c + `imagePullPolicy: unsupported value 'always': did you mean "Always"?`},
		{"", "restartPolicy: OnFailure", c + "restartPolicy: unsupported value 'OnFailure': that of the spec is for all; an init container with Always is a sidecar"},
		{"", "entrypoint: [a]", c + "entrypoint: not supported: v1 calls it command"},
		{"", "ports: [{port: 80}]", c + "ports[0].port: not supported: write containerPort"},
		{"", "cmd: [a]", c + "cmd: not supported: v1 calls it args"},
		{"", "memory: 1", c + "memory: not supported: in v1 it is resources.limits.memory"},
		{"", "command: [sleep, 60]", c + `command[1]: needs a string, but 60 is a number: put quotes around it, "60"`},
		{"", "securityContext: {seccompProfile: {type: Localhost, localhostProfile: ../a}}", c + "securityContext.seccompProfile.localhostProfile: invalid value '../a': write the path of a file in the directory seccomp of the -root_dir"},
		{"securityContext: {seccompProfile: {type: Localhost}}", "", "spec.securityContext.seccompProfile.localhostProfile: invalid value '': write the path of a file in the directory seccomp of the -root_dir"},
		{"", "securityContext: {seccompProfile: {type: Unconfined, localhostProfile: a}}", c + "securityContext.seccompProfile.localhostProfile: invalid value 'a': only the type Localhost has one"},
		{"securityContext: {seccompProfile: {type: unconfined}}", "", "spec.securityContext.seccompProfile.type: unsupported value 'unconfined': did you mean \"Unconfined\"?"},
		{"", "livenessProbe: {grpc: {port: 1, host: b}}", c + "livenessProbe.grpc.host: unknown field: the fields here are port, service"},
		{"", "volumeMounts: [{name: a, mountPath: /a, subPathExpr: b}]", c + "volumeMounts[0].subPathExpr: not supported: write the path itself, as subPath"},
		{"", "volumeMounts: [{name: a, mountPath: /a, mountPropagation: Bidirectional}]", c + "volumeMounts[0].mountPropagation: not supported 'Bidirectional': remove it"},
		{"volumes: [{name: a, emptyDir: {mode: 0777}}, {name: b, emptyDir: {mode: 01777}}]", "", "spec.volumes[1].emptyDir.mode: not supported: it is 0777: change it in an init container"},
		{"volumes: [{name: a, gcePersistentDisk: {pdName: b}}]", "", "spec.volumes[0].gcePersistentDisk: not supported: mount it on the host and use hostPath"},
		{"volumes: [{name: a, nfs: {}}]", "", "spec.volumes[0].nfs: not supported: mount it on the host and use hostPath"},
		{"", "securityContext: {seLinuxOptions: {level: a}}", c + "securityContext.seLinuxOptions: not supported: remove it"},
		{"hostUsers: false", "", "spec.hostUsers: not supported: set userns-remap in Docker's configuration"},
		{"restartPolicy: Sometimes", "", "spec.restartPolicy: unsupported value 'Sometimes': use Always, Never or OnFailure"},
		{"dnsPolicy: None", "", "spec.dnsPolicy: None needs nameservers in dnsConfig"},
		{"dnsPolicy: Clusterfirst", "", `spec.dnsPolicy: unsupported value 'Clusterfirst': did you mean "ClusterFirst"?`},
		{"nodeSelecter: {}", "", "spec.nodeSelecter: unknown field: the fields here are volumes, initContainers, containers, restartPolicy, " +
			"terminationGracePeriodSeconds, hostNetwork, hostname, hostAliases, dnsPolicy, dnsConfig, securityContext, priority, priorityClassName, enableServiceLinks, hostPID, hostIPC, shareProcessNamespace, subdomain, activeDeadlineSeconds"},
	} {
		_, err := v1.NewScheme().Decode("f", pod(tt.spec, tt.container), nil)
		if err == nil || strings.Join(strings.Split(err.Error(), ":")[3:], ":") != " "+tt.want {
			t.Errorf("%s %s\ngives %v\nwant  %s", tt.spec, tt.container, err, tt.want)
		}
	}
}

// A profile that an annotation chooses is not lost in silence.
func TestProfilesOfAppArmor(t *testing.T) {
	for profile, want := range map[string]string{
		"runtime/default": "", "localhost/strict": "f:1:62: metadata.annotations: not supported 'localhost/strict': remove it",
	} {
		_, err := v1.NewScheme().Decode("f", []byte("{apiVersion: v1, kind: Pod, metadata: {name: a, "+
			"annotations: {container.apparmor.security.beta.kubernetes.io/c: "+profile+"}}, spec: {containers: [{name: c, image: i}]}}"), nil)
		if err == nil && want != "" || err != nil && (want == "" || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", profile, err, want)
		}
	}
}
