package api

import (
	"crypto/sha256"
	"fmt"
	"strings"
)

// Pod is a manifest with an identity and a place it came from.
type Pod struct {
	Name      string // DNS subdomain
	Namespace string // DNS label
	UID       string // never empty: the manifest's uuid, or NewUID
	Source    string // the config source that sent it: "file", "http" or "etcd"
	// Origin says where in the source the pod was read, as a person would look
	// for it, such as "/etc/kubelet14/web.yaml" or "/x/all.yaml (document 2)". It
	// is for logs and errors alone.
	Origin string
	// Manifest is as written: defaults are not applied, so that a new default
	// changes no hash.
	Manifest ContainerManifest
}

// String names the pod the way every log line and error does.
func (p *Pod) String() string {
	return fmt.Sprintf("%s (%s)", p.FullName(), p.Origin)
}

// FullName is "name.namespace.source": unique on one kubelet, and kept over
// every edit and restart. A name may hold dots, a namespace and a source may
// not, so SplitFullName reads it from the right.
func (p *Pod) FullName() string {
	return fullName(p.Name, p.Namespace, p.Source)
}

// FullName is that of the pod.
func (p *PodStatus) FullName() string {
	return fullName(p.Name, p.Namespace, p.Source)
}

func fullName(name, namespace, source string) string {
	return name + "." + namespace + "." + source
}

// SplitFullName undoes FullName. ok is false when s is no full name.
func SplitFullName(s string) (name, namespace, source string, ok bool) {
	i := strings.LastIndex(s, ".")
	rest, source := s[:max(0, i)], s[i+1:]
	j := strings.LastIndex(rest, ".")
	name, namespace = rest[:max(0, j)], rest[j+1:]
	return name, namespace, source, name != "" && namespace != "" && source != ""
}

// NewUID derives the UID of a pod whose manifest has no uuid. It depends on
// nothing but the pod's place, so it survives edits and restarts. 2014 left it
// empty, and every rule that went by UID then took all such pods for one.
func NewUID(hostname, source, namespace, name string) string {
	// None of the parts may hold a NUL, so no two places give the same bytes.
	sum := sha256.Sum256([]byte(strings.Join([]string{hostname, source, namespace, name}, "\x00")))
	return fmt.Sprintf("%x", sum[:16])
}

// PodOperation says what a PodUpdate does to the pods it is about.
type PodOperation int

// The operations of PR #356. Sources send SET alone: a full state cannot miss
// an edge.
const (
	// SET: these are all the pods there are; any other is gone.
	SET PodOperation = iota + 1
	// ADD: these pods are new.
	ADD
	// REMOVE: these pods are gone; only name and namespace are looked at.
	REMOVE
	// UPDATE: these pods were known and have changed.
	UPDATE
)

func (op PodOperation) String() string {
	names := map[PodOperation]string{SET: "SET", ADD: "ADD", REMOVE: "REMOVE", UPDATE: "UPDATE"}
	if name, ok := names[op]; ok {
		return name
	}
	return "unknown operation"
}

// PodUpdate is the one message of the picture: a source sends it to the Mux,
// PodConfig sends it on to the sync loop. The receiver must not change what it
// holds.
type PodUpdate struct {
	Op   PodOperation
	Pods []Pod

	// Err is set by sources only. It says what could not be read. Pods then holds
	// the last good pods of what is in error; what was never read without an error
	// is missing. A source is synced after its first update without an error, and
	// stays synced.
	Err error

	// Unsynced is set by PodConfig only. It has every source that is configured and
	// not yet synced as of this update, with its latest error, nil when it has sent
	// nothing. The pods of such a source are not known, so nothing that may be one
	// of them is removed. It is part of the update because, asked for separately, it
	// could be newer than the pods: in Kubernetes v0.8 it was, and a tick between
	// the two killed the pods of a source that had just become ready.
	Unsynced map[string]error
}
