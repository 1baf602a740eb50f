package v1_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubelet14/api"
	"kubelet14/api/unittest"
	"kubelet14/api/v1"
	"kubelet14/api/validation"
)

func decodeObjects(text string) ([]api.Document, error) {
	return v1.NewScheme().Decode("f", []byte(text), validation.Rules{}.Validate)
}

// podsOf returns each pod with its place, labels and volumes.
func podsOf(docs []api.Document) (pods []string) {
	for _, doc := range docs {
		if m := doc.Manifest; m != nil {
			text := fmt.Sprint(m.Namespace, "/", m.ID, " ", m.Labels)
			for _, v := range m.Volumes {
				if v.Source != nil && v.Source.Claim != nil {
					text += " " + v.Name + "=" + v.Source.Claim.Name
				}
			}
			pods = append(pods, text+" ("+doc.Where+")")
		}
	}
	return pods
}

const template = "template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}"

func TestWorkloads(t *testing.T) {
	for text, want := range map[string]string{
		"{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop, labels: {x: y}}, spec: {replicas: 2, selector: {matchLabels: {a: b}}, " + template + "}}":      "shop/web-0 map[a:b] (Deployment web), shop/web-1 map[a:b] (Deployment web)",
		"{apiVersion: extensions/v1beta1, kind: Deployment, metadata: {name: web}, spec: {" + template + "}}":                                                                          "/web-0 map[a:b] (Deployment web)",
		"{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: web}, spec: {" + template + "}}":                                                                                     "/web-0 map[a:b] (ReplicaSet web)",
		"{apiVersion: v1, kind: ReplicationController, metadata: {name: web}, spec: {replicas: 1, selector: {a: b}, " + template + "}}":                                                "/web-0 map[a:b] (ReplicationController web)",
		"{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: logs}, spec: {" + template + "}}":                                                                                     "/logs map[a:b] (DaemonSet logs)",
		"{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 0, " + template + "}}":                                                                        "",
		"{apiVersion: batch/v1, kind: Job, metadata: {name: pi}, spec: {completions: 1, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}":                 "/pi map[] (Job pi)",
		"{apiVersion: batch/v1, kind: Job, metadata: {name: pi}, spec: {parallelism: 2, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}":                 "/pi-0 map[] (Job pi), /pi-1 map[] (Job pi)",
		"{apiVersion: batch/v1, kind: Job, metadata: {name: pi}, spec: {parallelism: 5, completions: 2, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}": "/pi-0 map[] (Job pi), /pi-1 map[] (Job pi)",
		"{apiVersion: batch/v1, kind: Job, metadata: {name: pi}, spec: {parallelism: 5, completions: 1, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}": "/pi map[] (Job pi)",
		"{apiVersion: batch/v1, kind: Job, metadata: {name: pi}, spec: {parallelism: 0, completions: 2, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}": "",
		"{apiVersion: batch/v1, kind: Job, metadata: {name: pi}, spec: {suspend: true, template: {spec: {restartPolicy: OnFailure, containers: [{name: c, image: i}]}}}}":              "",
		"{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: Namespace}, {apiVersion: apps/v1, kind: DaemonSet, metadata: {name: logs}, spec: {" + template + "}}]}":           "/logs map[a:b] (item 2, DaemonSet logs)",
		"{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db}, spec: {replicas: 2, serviceName: db, volumeClaimTemplates: [{metadata: {name: data}, spec: {resources: {requests: {storage: 1Gi}}}}], " +
			"template: {spec: {containers: [{name: c, image: i, volumeMounts: [{name: data, mountPath: /data}]}]}}}}": "/db-0 map[] data=data-db-0 (StatefulSet db), /db-1 map[] data=data-db-1 (StatefulSet db)",
	} {
		docs, err := decodeObjects(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if got := strings.Join(podsOf(docs), ", "); got != want {
			t.Errorf("%s:\n got %s\nwant %s", text, got, want)
		}
	}
}

// The pods of a template share no memory, and what is ignored is named once, with its path in the workload.
func TestPodsOfATemplate(t *testing.T) {
	docs, err := decodeObjects("{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 2, strategy: {type: Recreate}, " +
		"template: {metadata: {name: x, labels: {a: b}}, spec: {nodeName: n, containers: [{name: c, image: i}]}}}}")
	unittest.Must(t, err)
	docs[0].Manifest.Labels["a"], docs[0].Manifest.Containers[0].Image = "changed", "changed"
	if other := docs[1].Manifest; other.Labels["a"] != "b" || other.Containers[0].Image != "i" {
		t.Errorf("the second pod changed with the first: %+v", other)
	}
	want := []string{"spec.strategy", "spec.template.metadata.name", "spec.template.spec.nodeName"}
	if diff := cmp.Diff(want, docs[0].Manifest.Ignored); diff != "" || docs[1].Manifest.Ignored != nil {
		t.Errorf("the first names (-want +got):\n%s\nthe second %q", diff, docs[1].Manifest.Ignored)
	}
}

// The deadline of a Job is that of its pod, if the pod has none that is earlier.
func TestTheDeadlineOfAJob(t *testing.T) {
	for of, want := range map[[2]string]int64{{"60", "null"}: 60, {"60", "30"}: 30, {"30", "60"}: 30, {"null", "60"}: 60} {
		docs, err := decodeObjects("{apiVersion: batch/v1, kind: Job, metadata: {name: pi}, spec: {activeDeadlineSeconds: " + of[0] +
			", template: {spec: {activeDeadlineSeconds: " + of[1] + ", restartPolicy: Never, containers: [{name: c, image: i}]}}}}")
		unittest.Must(t, err)
		if got := docs[0].Manifest.ActiveDeadlineSeconds; got == nil || *got != want {
			t.Errorf("%v: %v, want %d", of, got, want)
		}
	}
}

func TestWorkloadsThatAreRefused(t *testing.T) {
	deployment := "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: "
	job := "apiVersion: batch/v1\nkind: Job\nmetadata: {name: pi}\nspec: "
	for text, want := range map[string]string{
		deployment + "{template: {spec: {containers: [{name: c, image: I}]}}}":                                                               "f:4:56: spec.template.spec.containers[0].image: invalid value 'I'",
		deployment + "{template: {spec: {containers: []}}}":                                                                                  "f:4:38: spec.template.spec.containers: required value ''",
		deployment + "{template: {spec: {containers: [{name: c, image: i, resources: {limits: {memory: 1}}}]}}}":                             "spec.template.spec.containers[0].resources.limits.memory: invalid value '1'",
		deployment + "{template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}":                                         "f:4:41: spec.template.spec.restartPolicy: unsupported value 'Never': that of a Deployment is Always",
		deployment + "{replicas: 1000000, " + template + "}":                                                                                 "f:4:18: spec.replicas: invalid value '1000000': use 0 to 1000",
		deployment + "{replicas: -1, " + template + "}":                                                                                      "spec.replicas: invalid value '-1'",
		deployment + "{replicas: 1000, template: {spec: {containers: [{name: c, image: i, args: [" + strings.Repeat("a, ", 1000) + "a]}]}}}": "f:4:18: spec.replicas: more than 600000 values in all pods",
		deployment + "{paused: true, completions: 1, " + template + "}":                                                                      "spec.completions: unknown field",
		strings.Replace(deployment, "name: web", "name: W", 1) + "{replicas: 2, " + template + "}":                                           "f:3:18: metadata.name: invalid value 'W-1'",
		strings.Replace(deployment, "apps/v1", "apps/v2", 1) + "{" + template + "}":                                                          "f:1:13: apiVersion: unsupported value 'apps/v2': this program reads apps/v1 or apps/v1beta1",
		job + "{" + template + "}":                                       "spec.template.spec.restartPolicy: required value '': write OnFailure or Never",
		job + "{completions: 3, " + template + "}":                       "f:4:21: spec.completions: not supported: all pods of a Job run at once here: write parallelism: 3 too",
		job + "{completions: 3, parallelism: 2, " + template + "}":       "f:4:21: spec.completions: not supported",
		job + "{parallelism: -1, " + template + "}":                      "f:4:21: spec.parallelism: invalid value '-1': use 0 to 1000",
		job + "{parallelism: 2000, completions: 1001, " + template + "}": "spec.completions: invalid value '1001': use 0 to 1000",
		job + "{parallelism: 1000, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i, args: [" + strings.Repeat("a, ", 1000) + "a]}]}}}": "f:4:21: spec.parallelism: more than 600000 values in all pods",
		job + "{completionMode: Indexed, " + template + "}":                                                                                                                "f:4:8: spec.completionMode: not supported: a pod has no index here",
		deployment + "{template: {spec: {activeDeadlineSeconds: 1, containers: [{name: c, image: i}]}}}":                                                                   "f:4:49: spec.template.spec.activeDeadlineSeconds: not supported: a Deployment does not end, write a Job",
		job + "{activeDeadlineSeconds: 0, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}":                                                    "f:4:31: spec.activeDeadlineSeconds: invalid value '0'",
		"{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db}, spec: {volumeClaimTemplates: [{spec: {}}], " + template + "}}":                                     "spec.volumeClaimTemplates[0].metadata.name: required value ''",
		"{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db}, spec: {volumeClaimTemplates: [{metadata: {name: ../x}}], " + template + "}}":                       "invalid value '../x'",
		"{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {volumes: [{name: v, persistentVolumeClaim: {claimName: ../../etc}}], containers: [{name: c, image: i}]}}": "spec.volumes[0].persistentVolumeClaim.claimName: invalid value '../../etc'",
		"{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {volumes: [{name: v, persistentVolumeClaim: {}}], containers: [{name: c, image: i}]}}":                     "spec.volumes[0].persistentVolumeClaim.claimName: required value ''",
		"{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy}":                                                                                                          "f:1:42: kind: this program enforces no NetworkPolicy, and without it this host is less safe",
		"{kind: Deployment}":                                                 "apiVersion: required value '': write \"apiVersion: apps/v1\"",
		"{apiVersion: apps/v1, kind: Deploymnt}":                             `kind: unsupported value 'Deploymnt': did you mean "Deployment"?`,
		"{apiVersion: apps/v1, kind: deployment}":                            `kind: unsupported value 'deployment': did you mean "Deployment"?`,
		"{apiVersion: batch/v1, kind: CronJob}":                              "kind: this program runs no CronJob: write its jobTemplate as a Job",
		"{apiVersion: example.com/v1, kind: Certificate}":                    "kind: this program runs no Certificate: remove it",
		"{apiVersion: kustomize.config.k8s.io/v1beta1, kind: Kustomization}": "kind: this program runs no Kustomization: render it first",
	} {
		docs, err := decodeObjects(text)
		if err == nil || !strings.Contains(err.Error(), want) || len(docs) > 0 {
			t.Errorf("%s: %v, want %s", api.Shorten(text, 300), err, want)
		} else if excerpt := api.WithExcerpts(err); !strings.Contains(excerpt, "\n> ") {
			t.Errorf("%s: no excerpt in %s", text, excerpt)
		}
	}
}

func TestObjectsThatAreLeftOut(t *testing.T) {
	docs, err := decodeObjects("kind: Namespace\napiVersion: v1\nmetadata: {name: \"sh\\nop\"}\nspec: [{}]\n---\n" +
		"{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}}\n---\n{apiVersion: v1, kind: ServiceAccount}\n---\n" +
		"{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute}\n---\n{apiVersion: monitoring.coreos.com/v1, kind: ServiceMonitor}\n---\n" +
		"{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c, image: i}]}}")
	unittest.Must(t, err)
	var got []string
	for _, doc := range docs[:5] {
		got = append(got, doc.Where+": "+doc.LeftOut)
	}
	want := []string{
		"document 1: Namespace sh; op: pods name their namespace",
		"document 2: PersistentVolumeClaim data: its directory is made for the first pod that names it; size and class mean nothing",
		"document 3: ServiceAccount: pods get no token",
		"document 4: HTTPRoute: there is no proxy; hostPort publishes a port",
		"document 5: ServiceMonitor: there is no Prometheus operator",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(docs) != 6 || docs[5].Manifest == nil || docs[5].Manifest.ID != "a" {
		t.Errorf("beside them: %+v", docs[5:])
	}
}
