package api

import (
	"crypto/sha256"
	"fmt"
	"strings"
)

// Pod is a manifest with an identity.
type Pod struct {
	Name      string            // DNS subdomain
	Namespace string            // DNS label
	UID       string            // never empty: the manifest's uuid, or NewUID
	Source    string            // "file", "http" or "etcd"
	Origin    string            // place in the source, for logs and errors, such as "/x/all.yaml (document 2)"
	Manifest  ContainerManifest // as written, without defaults: a new default changes no hash
}

// String names the pod for logs and errors.
func (p *Pod) String() string { return fmt.Sprintf("%s (%s)", p.FullName(), p.Origin) }

// FullName returns "name.namespace.source", which is unique on one kubelet and stays over every
// edit and restart. A name may have dots, a namespace and a source may not.
func (p *Pod) FullName() string { return p.Name + "." + p.Namespace + "." + p.Source }

func (p *PodStatus) FullName() string { return p.Name + "." + p.Namespace + "." + p.Source }

// PodsNamed returns the pods that a name means: the one with this full name, or all with this NAME or NAME.NAMESPACE.
func PodsNamed(pods []PodStatus, name string) (named []PodStatus) {
	for _, p := range pods {
		switch name {
		case p.FullName(): // which may be the name of another pod, too
			return []PodStatus{p}
		case p.Name, p.Name + "." + p.Namespace:
			named = append(named, p)
		}
	}
	return named
}

// SplitFullName splits a full name, read from the right. It returns nothing if s has fewer than three parts.
func SplitFullName(s string) (name, namespace, source string) {
	parts := strings.Split(s, ".")
	if n := len(parts); n >= 3 {
		return strings.Join(parts[:n-2], "."), parts[n-2], parts[n-1]
	}
	return "", "", ""
}

// NewUID derives the UID of a pod whose manifest has no uuid. It stays over edits and restarts.
func NewUID(hostname, source, namespace, name string) string {
	// No part has a NUL, so that no two pods have the same bytes.
	sum := sha256.Sum256([]byte(strings.Join([]string{hostname, source, namespace, name}, "\x00")))
	return fmt.Sprintf("%x", sum[:16])
}

// PodOperation is what a PodUpdate does.
type PodOperation int

// The operations of PR #356. Sources send only SET: a full state cannot miss a change.
const (
	SET    PodOperation = iota + 1 // these are all pods; any other is gone
	ADD                            // these pods are new
	REMOVE                         // these pods are gone; only name and namespace count
	UPDATE                         // these pods have changed
)

func (op PodOperation) String() string {
	return map[PodOperation]string{SET: "SET", ADD: "ADD", REMOVE: "REMOVE", UPDATE: "UPDATE"}[op]
}

// PodUpdate goes from a source to the Mux, and from PodConfig to the sync loop. The receiver must not change it.
type PodUpdate struct {
	Op   PodOperation
	Pods []Pod

	// What goes with pods, each kind in a field of its own, is set by sources only, with a SET. Merge gives it to the pods.
	Services []Service // sorted by name

	// Configs are the ConfigMaps and Secrets of a source, sorted. PodConfig sends those of all sources with every update.
	Configs []*ConfigObject `json:"-"`

	// Err is set by sources only. It says what could not be read. Pods then holds the last good
	// pods of what is in error; what was never read without an error is missing. A source is
	// synced after its first update without an error, and stays synced.
	Err error

	// NoPods is set by sources only, while a SET without pods is not believed.
	NoPods *NoPodsError

	// Unsynced is set by PodConfig only. It has every configured source that is not synced as of this update, with its latest
	// error, nil when it has sent nothing, or that has NoPods. The pods of such a source are not all known, so nothing that may be one of them is
	// removed; but a pod that an earlier update has named, and this one does not, is gone. Unsynced comes with the pods: if the
	// receiver asked for it later, a source could be synced by then, and its pods, which are not in Pods, would be removed.
	Unsynced map[string]error
}
