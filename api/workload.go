package api

import (
	"fmt"
	"slices"
	"strings"
)

// Workload is an object of v1 whose template describes pods, such as a Deployment. Decode makes its pods; nothing else knows it.
type Workload struct {
	Kind, Name string
	Template   ContainerManifest // of each pod, without its name
	Pods       []string          // their names
	Claims     []string          // names of volumes: in each pod that volume is a claim of its own, named VOLUME-POD
}

// manifest returns the manifest of one of the pods.
func (w *Workload) manifest(pod string) *ContainerManifest {
	m := w.Template.Clone()
	m.ID = pod
	for _, name := range w.Claims {
		m.Volumes = slices.DeleteFunc(m.Volumes, func(v Volume) bool { return v.Name == name })
		m.Volumes = append(m.Volumes, Volume{Name: name, Source: &VolumeSource{Claim: &Claim{Name: name + "-" + pod}}})
	}
	return &m
}

// pods checks a workload, and appends its pods to d.docs. Together they count as much against the limit as if each was written out.
// What is ignored is told once, by the first.
func (d *decoder) pods(w *Workload, where string, values int) (problems Mistakes) {
	if d.values += values * max(0, len(w.Pods)-1); d.values > maxValues {
		return Mistakes{{Field: "replicas", Text: fmt.Sprintf("more than %d values in all pods: write fewer of them", maxValues)}}
	}
	if d.check != nil {
		// All pods are alike. The last one has the longest name.
		if problems = d.check(Document{Manifest: w.manifest(append([]string{w.Name}, w.Pods...)[len(w.Pods)])}); len(problems) > 0 {
			return problems
		}
	}
	for i, name := range w.Pods {
		doc := Document{Manifest: w.manifest(name), Where: strings.TrimPrefix(where+", "+w.Kind+" "+w.Name, ", ")}
		if i == 0 {
			doc.Manifest.Ignored = d.ignored
		}
		d.docs = append(d.docs, doc)
	}
	return nil
}
