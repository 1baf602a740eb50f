package volume

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"kubelet14/api/unittest"
)

// The mounts of this test are made in its own mount namespace and end with it. Where the
// kernel allows this user no mounts even there, it tests nothing.
func TestWhatIsMountedInRootDirIsNotDeleted(t *testing.T) {
	if os.Getenv(childEnv) == "" {
		out, err := runAgain(t, "child", ownMounts()).CombinedOutput()
		if _, refused := errors.AsType[*os.PathError](err); err != nil && !refused {
			t.Errorf("in its own mount namespace: %v", err)
		}
		t.Logf("%v\n%s", err, out)
		return
	}
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); errors.Is(err, fs.ErrPermission) {
		t.Logf("no mounts for this user: %v", err)
		return
	}
	for point, refused := range map[string]bool{
		".": false, "pods/uid2": false, "pods": true, "pods/uid": true, "pods/uid/" + emptyDirs + "/vol/it's a\nmount\t\\040 #point": true,
	} {
		root := filepath.Join(t.TempDir(), "root")
		point = filepath.Join(root, point)
		if point == root {
			mount(t, root, root)
		}
		r, err := OpenRootDir(root)
		unittest.Must(t, err)
		file := filepath.Join(setUp(t, r, "uid"), "file")
		if point != root {
			mount(t, point, point) // on itself, so the files stay visible
		}
		err = r.MoveToTrash("uid")
		if refused {
			unittest.Says(t, err, filepath.Join(root, "pods/uid"), "is a mount point", "sudo umount "+shellQuote(point))
			wantText(t, file, "data of uid")
			wantUIDs(t, r, "uid")
			unittest.Must(t, syscall.Unmount(point, 0))
			err = r.MoveToTrash("uid")
		}
		unittest.Must(t, err)
		wantGone(t, file)
	}

	// A mount in the trash: of several, the one on top is named.
	r, source := openRoot(t), t.TempDir()
	trash := filepath.Join(r.Path(), "trash")
	write(t, filepath.Join(source, "file"), "theirs")
	points := []string{trash, filepath.Join(trash, "uid/volume"), filepath.Join(trash, "uid/volume/on top")}
	mount(t, trash, trash)
	mount(t, source, points[1])
	mount(t, source, points[2])
	for _, point := range slices.Backward(points) {
		unittest.Says(t, r.EmptyTrash(t.Context()), "sudo umount "+shellQuote(point))
		unittest.Must(t, syscall.Unmount(point, 0))
	}
	unittest.Must(t, r.EmptyTrash(t.Context()))
	wantEmpty(t, trash)
	wantText(t, filepath.Join(source, "file"), "theirs")

	// What cannot be moved has the same error each time, so it is logged once.
	setUp(t, r, "uid")
	mount(t, trash, trash)
	first, second := r.MoveToTrash("uid"), r.MoveToTrash("uid")
	unittest.Says(t, first, filepath.Join(r.Path(), "pods/uid"), "cross-device")
	unittest.Says(t, second, first.Error())
	unittest.Must(t, syscall.Unmount(trash, 0))

	// Without the kernel's table nothing is deleted.
	file := filepath.Join(setUp(t, r, "uid"), "file")
	unittest.Must(t, syscall.Mount("tmpfs", "/proc", "tmpfs", 0, ""))
	unittest.Says(t, r.MoveToTrash("uid"), "look for mount points")
	wantText(t, file, "data of uid")
}

// mount binds the directory source to point; it makes both.
func mount(t *testing.T, source, point string) {
	t.Helper()
	unittest.Must(t, os.MkdirAll(source, 0o755), os.MkdirAll(point, 0o755))
	unittest.Must(t, syscall.Mount(source, point, "", syscall.MS_BIND, ""))
	t.Cleanup(func() { syscall.Unmount(point, syscall.MNT_DETACH) })
}

// ownMounts starts a process in its own mount namespace, and as root in it.
func ownMounts() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 {
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	return attr
}
