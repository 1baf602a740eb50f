// Package volume makes the directories that the containers of a pod share, and
// deletes them when no pod needs them any more (PR #527).
//
//	pod worker ─▶ CreateVolume, SetUp     <root_dir>/pods/<uid>/volumes/kubernetes.io~empty-dir/<name>
//	              MakeTerminationFile     <root_dir>/pods/<uid>/termination/<container>.<attempt>
//	sync loop ──▶ PodUIDs, MoveToTrash    <root_dir>/trash/<uid>.<random>, by one rename
//	goroutine ──▶ EmptyTrash              takes its time
//
// RootDir owns everything below -root_dir. The rules:
//
//  1. A root_dir belongs to one kubelet at a time: its lock file marks and locks it.
//     A directory with unknown files in it is refused.
//  2. A volume keeps its data and its mode until its pod's UID goes to the trash, over
//     restarts of its containers and of the kubelet.
//  3. Deleting never follows a link, never crosses a mount point (as listed in
//     /proc/self/mountinfo) and never leaves root_dir.
//  4. What cannot be deleted stays in the trash and is tried again. The error names
//     the command that deletes it.
package volume
