// Package config finds out which pods this host should run (PR #356).
//
//	-config ───────▶ SourceFile ─┐
//	-manifest_url ─▶ SourceHTTP ─┼─ PodUpdate(SET) ─▶ Mux ─▶ podStorage ─▶ Updates() ─▶ the kubelet
//	-etcd_servers ─▶ SourceEtcd ─┘  one channel each         Merge
//
// A source sends all of its pods, as a SET, whenever they change. The Mux has a goroutine for each source, which calls
// Merge. podStorage sends what has changed, in the form its mode asks for. PodConfig is all of it.
//
// The rules:
//
//  1. An error never removes a pod. A file, body or key that cannot be read or is
//     invalid keeps its last good pods. Only when it is gone are its pods removed.
//  2. A source is not ready until all of it was read without an error. Every update
//     names the sources that are not ready in Unsynced; the first one that does not
//     name a source has all of its pods. Until then only a pod that an earlier update
//     has named is known to be gone.
//  3. An update is sent when pods or Unsynced change, and by Sync. Updates arrive in
//     order, and what was sent never changes.
//
// docs/sources.md tells how to add a source.
package config
