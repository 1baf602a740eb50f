// Package config finds out what pods this host should run (PR #356).
//
//	-config ──▶ SourceFile ─┐
//	(another source) ───────┼─ PodUpdate(SET) ─▶ Mux ─▶ podStorage ─▶ Updates() ─▶ the kubelet
//	(another source) ───────┘  one channel each         Merge
//
// A source knows how to read one place and sends everything it found, as a SET,
// whenever that changes. The Mux gives each source a channel and a goroutine that
// calls Merge. podStorage compares with what it knew, refuses what is invalid, and
// tells of the change in the words of its mode: the kubelet's is
// PodConfigNotificationSnapshotAndUpdates. PodConfig is all three in one.
//
//	pods := config.NewPodConfig(config.PodConfigNotificationSnapshotAndUpdates, rules)
//	updates := pods.Channel(ctx, "file") // for every source, before the first Run
//	go config.NewSourceFile(path, hostname, time.Second, scheme, rules).Run(ctx, updates)
//	for update := range pods.Updates() { ... }
//
// # What must hold
//
//  1. An error never removes a pod. What cannot be read or is invalid stays as it
//     was when it was last good: a file in SourceFile, a pod in podStorage. Only a
//     file, item or key that is really gone takes its pods along. In 2014 a typo
//     killed the pod.
//  2. A source that has not spoken is named in every update's Silent, and the
//     update that no longer names it holds all of its pods. A source has spoken
//     once everything of it was read without an error since start. In 2014 the
//     first source to speak had the pods of the others killed.
//  3. Within one source no two pods have the same name or UID. Who had it first
//     keeps it; when nobody did, nobody gets it.
//  4. Every change makes an update, and nothing else does. They are delivered in
//     order, each once. What was sent never changes. A slow receiver misses nothing
//     that still counts, and everything ends when the context does.
//
// # The file source
//
// read looks at the disk, settleClaims settles which file has which pod, report
// says what is new. Run calls them at every -file_check_frequency, which finds
// everything; and earlier when a file was too fresh to be read, or a pathWatch
// gave a hint, so that an edit need not wait.
//
// # How to add a source
//
// Write a type with Run(ctx, updates chan<- api.PodUpdate) that
//
//   - sends a SET of all its pods first, also when there are none, and again
//     whenever something changed;
//   - keeps the last good pods of what it cannot read now, and says in Err what
//     that is, in words that stay the same while the trouble does;
//   - gives every pod a Name, Namespace, UID (api.NewUID without a uuid), Source and
//     Origin that depend on nothing but its place;
//   - leaves alone what it has sent, returns when ctx is done, also from a send,
//     and does not close the channel.
//
// Then have main.go call Channel with its name and run it.
package config
