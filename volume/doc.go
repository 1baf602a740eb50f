// Package volume creates the directories that the containers of a pod share, and
// deletes them once no pod needs them (PR #527).
//
//	pod worker ─▶ CreateVolume, SetUp     <root_dir>/pods/<uid>/volumes/kubernetes.io~empty-dir/<name>
//	              MakeTerminationFile     <root_dir>/pods/<uid>/termination/<container>.<attempt>
//	sync loop ──▶ Keep, MoveToTrash       <root_dir>/trash/<uid>.<random>, by one rename
//	goroutine ──▶ EmptyTrash              may take minutes
//	others ─────▶ WriteFile               the token, what is known of etcd, who pulled an image
//
// RootDir owns pods, trash and claims. The rules:
//
//  1. A root_dir belongs to one kubelet at a time: its lock file marks and locks it.
//     It refuses a directory with unknown files in it.
//  2. A volume keeps its data and its mode across restarts of its containers and of the
//     kubelet, until its pod's UID goes to the trash.
//  3. Deleting never follows a link, never crosses a mount point (as listed in
//     /proc/self/mountinfo) and never leaves root_dir.
//  4. If deleting fails, the files stay in the trash and deleting is retried. The error
//     names the command that deletes them.
package volume
