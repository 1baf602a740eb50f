// Package dockertools is everything that says Docker.
//
//	kubelet ─▶ Lister ─▶ Interface ◀── Client ─▶ dockerd
//	        └────────────▶         ◀── Fake       (a Docker in memory, for tests)
//
// Interface is all of Docker that the kubelet needs, in the kubelet's words. Client
// is the real one, over go-dockerclient; Fake keeps the same promises in memory,
// and one contract test holds both to them.
//
// NameParts and Identity are the kubelet's memory: what the name and the labels of
// a container say, and which containers are this kubelet's own. The Lister gives
// all workers one view of them, as fresh as each needs it.
//
// The network container's image is built in: EnsurePauseImage makes it of a
// hundred bytes of machine code.
//
// # What must hold
//
//  1. A container is ours when hostname, root_dir and its own name are all truly in
//     its labels. No other is ever touched.
//  2. A name is built from what is wanted and the number of the attempt, so Docker's
//     rule that names are unique is the lock against making a container twice.
//  3. A list that is asked for after a Mark was begun after it.
//  4. An event is a hint to look again and never a fact: it may be lost, and it may
//     come before Docker's list shows what it tells of.
//  5. Every call ends: with its context, or at a time limit of its own.
package dockertools
