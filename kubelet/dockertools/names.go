package dockertools

import (
	"fmt"
	"strconv"
	"strings"
)

// NameParts is what the name of a container says. A name is the kubelet's first
// memory: it is built from what is wanted and an attempt number alone, so
// Docker's rule that names are unique is the lock that keeps a container from
// being made twice. 2014 ended its names with a random number instead, and two
// of a kind could live side by side.
type NameParts struct {
	Name        string // of the container in its manifest, or api.NetworkContainerName
	Hash        string // of what it was made from, lower-case hex
	PodFullName string // name.namespace.source
	UID         string // of the pod
	Attempt     int    // 1 for the first container of this pod and name
}

// String builds the container name: k8s_<name>.<hash>_<full name>_<uid>_<attempt>.
// No part holds an underscore: they are DNS names, hex digits and UIDs.
func (p NameParts) String() string {
	return fmt.Sprintf("k8s_%s.%s_%s_%s_%d", p.Name, p.Hash, p.PodFullName, p.UID, p.Attempt)
}

// ParseContainerName undoes String. ok is false for every name that String would
// not have built.
func ParseContainerName(name string) (p NameParts, ok bool) {
	fields := strings.Split(name, "_")
	if len(fields) != 5 {
		return NameParts{}, false
	}
	p.Name, p.Hash, _ = strings.Cut(fields[1], ".")
	p.PodFullName, p.UID = fields[2], fields[3]
	p.Attempt, _ = strconv.Atoi(fields[4])
	if p.Name == "" || p.Hash == "" || p.PodFullName == "" || p.UID == "" || p.Attempt < 1 || p.String() != name {
		return NameParts{}, false
	}
	return p, true
}
