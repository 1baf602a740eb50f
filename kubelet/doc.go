// Package kubelet keeps the pods of one host as their manifests say.
//
//	PodUpdate ─▶ syncLoop ─▶ SyncPods ─┬▶ podWorker web ─▶ syncPod ─┐
//	             ▲      ▲              ├▶ podWorker db  ─▶ syncPod ─┼─▶ Docker
//	       tick ─┘      └─ event       └▶ podWorker …   ─▶ syncPod ─┘
//
// It is made with NewMainKubelet and works until the context of Run is done.
// From then on everything goes one way:
//
//   - syncLoop takes what PodConfig sends (SET and UPDATE), the tick of
//     -sync_frequency and hints from Docker's events, and calls SyncPods.
//   - SyncPods asks once for the list of this kubelet's containers and gives each
//     pod that is wanted, or has containers and is not wanted, to its worker. It
//     is also where volumes nobody needs any more are set aside.
//   - podWorkers runs one piece of work at a time for each pod (PR #588): syncPod.
//   - syncPod looks (observe), decides (plan) and acts (run), until there is
//     nothing left to do.
//
// Two things go on beside the workers, since they can take long, and hint when
// something came of them: images pulls, one pull of an image at a time, and probes
// asks every container that has a liveness probe. Hooks (postStart, preStop) are
// part of starting and stopping, and the pod's worker runs them.
//
// Statuses and Events say what has become of it all.
//
// The heart is plan: a pure function from what is wanted and what is seen to
// actions with reasons. -dry_run prints what it says, RunOnce and Cleanup run it,
// and most tests need nothing else.
//
// # What must hold
//
//  1. Docker is the only memory. Container names and labels say everything there
//     is to know, down to which postStart hooks have not succeeded yet; a kubelet
//     that was killed at any moment ends, started again, at the same containers.
//  2. At most one container is alive for each container of a pod. Only the newest
//     attempt counts, and its name is built from the wish and a number.
//  3. Only its worker touches a pod, and the newest wish wins.
//  4. A worker never decides on a list older than its own last action
//     (dockertools.Lister).
//  5. Nothing is removed for a source that is silent, and no volume while any
//     source is (api.PodUpdate.Unsynced).
//  6. A volume goes only after its pod's containers are gone.
//  7. One list a sync, however many pods, and no inspect when nothing changed.
package kubelet
