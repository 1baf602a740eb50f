// Package kubelet keeps the pods of one host as their manifests describe them.
//
//	updates ─┐                                       ┌▶ podWorkers.Run(web) ─▶ syncPod ─┐
//	tick ────┼─▶ SyncPods: list, inspect what has    ├▶ podWorkers.Run(db)  ─▶ syncPod ─┼─▶ Docker
//	retry ───┤   changed, plan for every pod, start ─┴▶ …                               │
//	wakeup ──┘   the workers of idle pods                   end of work ── wakeup ◀─────┘
//
// One goroutine, the sync loop, looks at Docker by package observe, and decides by package
// plan, which is pure. The workers only act: each carries out the plan of one pod.
//
// One rule makes this safe: a pod whose worker is busy when the list of containers is
// begun is skipped, and the end of its work starts another sync. Only the loop starts
// workers, so a pod that was idle before the list is still idle after it, and the list
// shows everything that its worker ever did.
//
// Three things happen beside the workers, because they take long: pulls (package images) and
// probes (package probes), which wake the loop, and the removal of volumes (emptyTrash).
//
// Each sync publishes a snapshot. Statuses, Pods, ContainerLogs and the other methods for
// the info server read it, and call Docker only for logs, commands and measurements.
package kubelet
