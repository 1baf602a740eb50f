// Package volume makes the directories that a pod's containers share, and removes
// them when no pod needs them any more (PR #527).
//
// A manifest names volumes, and CreateVolume turns each into an Interface:
//
//	emptyDir  EmptyDirectory  a directory of the kubelet's, as old as its pod's UID
//	hostDir   HostDirectory   a directory of the host; neither made nor removed here
//
// All that the kubelet ever writes is below one directory, -root_dir, and RootDir
// is its one owner:
//
//	<root_dir>/kubelet14.lock                                         marks it as ours, and locks it
//	<root_dir>/pods/<uid>/volumes/kubernetes.io~empty-dir/<volume>    an EmptyDirectory
//	<root_dir>/trash/<uid>.<n>                                        set aside, to be deleted
//
// 2014 used the pod's name where the UID is now, so two pods of one name in two
// sources shared their directories.
//
// # Who calls whom
//
//   - main opens the RootDir, and closes it last.
//   - A pod's worker calls CreateVolume and SetUp before each container it creates.
//   - The sync loop asks PodUIDs, and calls SetAside for each UID that no pod wants
//     and no container has: one rename, however much data there is.
//   - One goroutine of the kubelet calls EmptyTrash, which may take long.
//
// # What must hold
//
//  1. One kubelet a root_dir: a second one is refused, and a killed one leaves
//     nothing locked.
//  2. A root_dir is empty when we first take it, or it is refused: what we did not
//     make we never delete.
//  3. A volume keeps its data and its mode until its UID is set aside, over restarts
//     of its containers and of the kubelet.
//  4. Nothing here leaves root_dir: every path is walked with os.Root, links on the
//     way are refused, and links in a volume are deleted, not followed.
//  5. Nothing that is mounted in root_dir is set aside or deleted. This is read in
//     /proc/self/mountinfo, so it holds on Linux, for the mounts that the kubelet's
//     own mount namespace shows; on other systems mounts are not looked for.
//  6. What cannot be deleted stays in the trash and is tried again, and the error
//     says which command would delete it.
package volume
