package volume

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// The mounts of this test are made in a mount namespace of its own, and end with
// it, whoever runs it and however it ends. A kernel that lets this user mount
// nothing even there leaves it to the tests that pretend mounts.
func TestRealMountPointIsRefusedUntilItIsUnmounted(t *testing.T) {
	if os.Getenv(childEnv) == "" {
		out, err := again(t, "child", ownMounts()).CombinedOutput()
		if refused := (*os.PathError)(nil); errors.As(err, &refused) {
			t.Logf("no mount namespace for this user: %v", refused)
		} else if err != nil {
			t.Errorf("in a mount namespace of its own: %v\n%s", err, out)
		}
		t.Logf("%s", out)
		return
	}
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); errors.Is(err, fs.ErrPermission) {
		t.Logf("no mounts for this user: %v", err)
		return
	} else if err != nil {
		t.Fatal(err)
	}
	source := t.TempDir()
	write(t, filepath.Join(source, "file"), "theirs")
	r := openRoot(t)
	vol := emptyDir(t, r, "uid", "vol")
	must(t, vol.SetUp())
	point := filepath.Join(vol.GetPath(), "it's a\nmount \\ point")
	must(t, os.Mkdir(point, 0o755))
	must(t, syscall.Mount(source, point, "", syscall.MS_BIND, ""))
	command := "sudo umount " + shellQuote(point)

	wantError(t, r.SetAside("uid"), command)
	wantError(t, vol.TearDown(t.Context()), command)
	wantText(t, filepath.Join(point, "file"), "theirs")
	wantUIDs(t, r, "uid")

	// A mount that comes between the two steps is seen as well.
	must(t, syscall.Unmount(point, 0))
	must(t, r.SetAside("uid"))
	aside := filepath.Join(r.Path(), "trash/uid.0")
	must(t, syscall.Mount(source, aside, "", syscall.MS_BIND, ""))
	wantError(t, r.EmptyTrash(t.Context()), "sudo umount "+shellQuote(aside))
	wantText(t, filepath.Join(source, "file"), "theirs")

	must(t, syscall.Unmount(aside, 0))
	must(t, r.EmptyTrash(t.Context()))
	wantGone(t, aside)
	wantText(t, filepath.Join(source, "file"), "theirs")
}

// ownMounts starts a process in a mount namespace of its own, and as its root.
func ownMounts() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 {
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	return attr
}

func TestRealMountPointsOfThisSystemAreSeen(t *testing.T) {
	root, err := os.OpenRoot("/")
	must(t, err)
	defer root.Close()
	r := &RootDir{path: "/", root: root, mountinfo: "/proc/self/mountinfo"}
	wantError(t, r.checkMounts("proc/self"), `"/proc" is a mount point`)
	if err := r.checkMounts("no such directory"); err != nil {
		t.Error(err)
	}
}
