package volume

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestLastMountReadsTheTableOfTheKernel(t *testing.T) {
	const table = `27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
36 35 98:0 /mnt1 /root/dir rw,noatime master:1 shared:7 - ext3 /dev/root rw,errors=continue
40 27 0:38 / /root/dir/pods/a\040b\011c\012d\134e\134040 rw - tmpfs tmp\040fs rw
41 27 0:39 /x /root/dir/pods/ünï/x rw - tmpfs tmpfs rw
42 27 0:39 /x /root/dir-2/pods/uid rw - tmpfs tmpfs rw
`
	for path, want := range map[string]string{
		"/root/dir/pods/ünï": "/root/dir/pods/ünï/x", "/root/dir/pods/ünï/x/y": "/root/dir/pods/ünï/x", "/root/dir/pods/uid": "",
		"/root/dir/pods/a b\tc\nd\\e\\040": "/root/dir/pods/a b\tc\nd\\e\\040",
	} {
		if got := lastMount(table, "/root/dir", path); got != want {
			t.Errorf("for %q got %q, want %q", path, got, want)
		}
	}
}

// The mounts of this test are made in its own mount namespace and end with it. Where the
// kernel allows this user no mounts even there, the test above is all there is.
func TestWhatIsMountedInRootDirIsNotDeleted(t *testing.T) {
	if os.Getenv(childEnv) == "" {
		out, err := runAgain(t, "child", ownMounts()).CombinedOutput()
		if refused := (*os.PathError)(nil); errors.As(err, &refused) {
			t.Logf("no mount namespace for this user: %v", refused)
		} else if err != nil {
			t.Errorf("in its own mount namespace: %v\n%s", err, out)
		}
		t.Logf("%s", out)
		return
	}
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); errors.Is(err, fs.ErrPermission) {
		t.Logf("no mounts for this user: %v", err)
		return
	}
	for point, refused := range map[string]bool{
		".": false, "pods/uid2": false, "trash/uid.0": false,
		"pods": true, "pods/uid": true, "pods/uid/" + emptyDirs + "/vol/it's a\nmount \\ point": true,
	} {
		root := filepath.Join(t.TempDir(), "root")
		if point == "." {
			mount(t, root, root)
		}
		r, err := OpenRootDir(root)
		must(t, err)
		file := filepath.Join(setUp(t, r, "uid"), "file")
		if point != "." {
			mount(t, filepath.Join(root, point), filepath.Join(root, point)) // on itself, so the files stay visible
		}
		err = r.MoveToTrash("uid")
		if !refused {
			must(t, err)
			wantGone(t, file)
			continue
		}
		command := "sudo umount " + shellQuote(filepath.Join(root, point))
		wantError(t, err, filepath.Join(root, "pods/uid"), "is a mount point", command)
		wantError(t, emptyDir(t, r, "uid", "vol").TearDown(t.Context()), command)
		wantText(t, file, "data of uid")
		wantUIDs(t, r, "uid")
		must(t, syscall.Unmount(filepath.Join(root, point), 0))
		must(t, r.MoveToTrash("uid"))
	}

	// What is mounted in the trash, one mount on another, is named from the top, and does
	// not keep the other entries.
	r, source := openRoot(t), t.TempDir()
	write(t, filepath.Join(source, "file"), "theirs")
	for _, uid := range []string{"a", "uid", "z"} {
		setUp(t, r, uid)
		must(t, r.MoveToTrash(uid))
	}
	entry := inTrash(t, r, "uid")
	points := []string{filepath.Join(entry, "volumes"), filepath.Join(entry, "volumes/on top")}
	for _, point := range points {
		mount(t, source, point)
	}
	for _, point := range []string{points[1], points[0]} {
		wantError(t, r.EmptyTrash(t.Context()), entry, "sudo umount "+shellQuote(point))
		must(t, syscall.Unmount(point, 0))
	}
	wantGone(t, filepath.Join(r.Path(), "trash/a.*"))
	if left, err := os.ReadDir(filepath.Join(r.Path(), "trash")); err != nil || len(left) != 1 {
		t.Errorf("the trash contains %v (error %v), want one entry", left, err)
	}
	mount(t, filepath.Join(r.Path(), "trash"), filepath.Join(r.Path(), "trash"))
	wantError(t, r.EmptyTrash(t.Context()), "sudo umount "+shellQuote(filepath.Join(r.Path(), "trash")))
	must(t, syscall.Unmount(filepath.Join(r.Path(), "trash"), 0))
	must(t, r.EmptyTrash(t.Context()))
	wantGone(t, entry)
	wantText(t, filepath.Join(source, "file"), "theirs")

	// Without the kernel's table nothing is deleted.
	vol := setUp(t, r, "uid")
	must(t, syscall.Mount("tmpfs", "/proc", "tmpfs", 0, ""))
	wantError(t, r.MoveToTrash("uid"), "look for mount points")
	wantError(t, emptyDir(t, r, "uid", "vol").TearDown(t.Context()), "look for mount points")
	wantText(t, filepath.Join(vol, "file"), "data of uid")
}

// mount binds the directory source to point; it makes both.
func mount(t *testing.T, source, point string) {
	t.Helper()
	must(t, errors.Join(os.MkdirAll(source, 0o755), os.MkdirAll(point, 0o755)))
	must(t, syscall.Mount(source, point, "", syscall.MS_BIND, ""))
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
