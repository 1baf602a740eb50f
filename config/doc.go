// Package config finds out what pods this host should run (PR #356).
//
//	-config ───────▶ SourceFile ─┐
//	-manifest_url ─▶ SourceHTTP ─┼─ PodUpdate(SET) ─▶ Mux ─▶ podStorage ─▶ Updates() ─▶ the kubelet
//	-etcd_servers ─▶ SourceEtcd ─┘  one channel each         Merge
//
// A source knows how to read one place and sends everything it found, as a SET,
// whenever that changes. The Mux gives each source a channel and a goroutine that
// calls Merge. podStorage compares with what it knew, refuses what is invalid, and
// tells of the change in the words of its mode: the kubelet's is
// PodConfigNotificationSnapshotAndUpdates. PodConfig is all three in one.
//
//	pods := config.NewPodConfig(config.PodConfigNotificationSnapshotAndUpdates, rules)
//	updates := pods.Channel(ctx, "file") // for every source, before the first Run
//	go config.NewSourceFile(path, time.Second, parser).Run(ctx, updates)
//	for update := range pods.Updates() { ... }
//
// # What must hold
//
//  1. An error never removes a pod. What cannot be read or is invalid stays as it
//     was when it was last good: a file, a body or a key in its source, a pod in
//     podStorage. Only a file, item or key that is really gone takes its pods
//     along. In 2014 a typo killed the pod.
//  2. A source that has not spoken is named in every update's Unsynced, and the
//     update that no longer names it holds all of its pods. A source has spoken
//     once everything of it was read without an error since start. In 2014 the
//     first source to speak had the pods of the others killed.
//  3. Within one source no two pods have the same name or UID (settleClaims). Who
//     had it first keeps it; when nobody did, nobody gets it. Two sources may well
//     have the same UID; then the kubelet lets one of the pods wait.
//  4. Every change makes an update, and nothing else does. They are delivered in
//     order, each once. What was sent never changes. A slow receiver misses nothing
//     that still counts, and everything ends when the context does.
//
// # The sources
//
// All three do the same: read what is there into parts, which are good or bad as a
// whole (a file, a body, a key); settle which part has which pod (settleClaims);
// and say what is new (report). They differ in how they hear of a change.
//
//   - SourceFile lists the directory at every -file_check_frequency, which finds
//     everything; and earlier when a file was too fresh to be read, or a pathWatch
//     gave a hint, so that an edit need not wait.
//   - SourceHTTP asks at every -http_check_frequency, and for nothing but what has
//     changed.
//   - SourceEtcd lists its keys and then watches them. The list is the truth: it is
//     taken again after every failure, and from time to time. etcdHistory refuses
//     one from an etcd that was replaced or has lost its data.
//
// # How to add a source
//
// Write a Source, whose Run
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
// Parser, part, settleClaims and reporter do most of that. Then have main.go make it
// with the others; docs/sources.md has the whole list of duties.
package config
