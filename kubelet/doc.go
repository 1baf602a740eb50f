// Package kubelet keeps the pods of one host as their manifests describe them.
//
//	updates ─┐                                       ┌▶ podWorkers.Run(web) ─▶ syncPod ─┐
//	tick ────┼─▶ SyncPods: list, inspect what has    ├▶ podWorkers.Run(db)  ─▶ syncPod ─┼─▶ Docker
//	retry ───┤   changed, plan for every pod, start ─┴▶ …                               │
//	wakeup ──┘   the workers of idle pods                   end of work ── wakeup ◀─────┘
//
// One goroutine, the sync loop, looks at Docker with package observe and decides with package
// plan, which is pure. The workers only act: each carries out the plan of one pod with package
// execute. What happens is told to one watch.Watcher; the loop does not know who listens.
//
// One rule makes this safe: a pod whose worker was busy when the list was begun is skipped, and
// the end of its work wakes the loop. Only the loop starts workers, so a pod that was idle before
// the list is still idle after it, and the list shows everything that its worker ever did.
//
// Three things take long and run beside the workers: pulls (package images) and probes (package
// probes), which wake the loop, and the removal of volumes (emptyTrash).
//
// Each sync publishes a snapshot. The methods for the info server read it, and call Docker only
// for logs, commands and measurements.
package kubelet
