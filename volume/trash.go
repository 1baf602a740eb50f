package volume

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/golang/glog"
)

// PodUIDs returns the UIDs that have a directory, sorted.
func (r *RootDir) PodUIDs() (uids []string, err error) {
	entries, err := r.readDir(podsDir)
	for _, entry := range entries {
		if entry.IsDir() && checkName("uid", entry.Name()) == nil {
			uids = append(uids, entry.Name())
		}
	}
	return uids, err
}

// Keep moves to the trash the directory of every UID that is not needed.
func (r *RootDir) Keep(needed map[string]bool) error {
	uids, err := r.PodUIDs()
	errs := []error{err}
	for _, uid := range uids {
		if needed[uid] {
			continue
		}
		err := r.MoveToTrash(uid)
		errs = append(errs, err)
		if err == nil {
			glog.V(2).Infof("the volumes of uid %s belong to no pod and are removed", uid)
		}
	}
	return errors.Join(errs...)
}

// MoveToTrash moves the directory of a UID to the trash, where EmptyTrash deletes it. It is
// a single rename, so a new pod with this UID starts with empty volumes. It fails while
// anything is mounted inside. A UID without a directory is not an error.
//
// The caller must make sure that the UID has no containers. In 2014 volumes were deleted
// while containers still wrote to them.
func (r *RootDir) MoveToTrash(uid string) error {
	if err := checkName("uid", uid); err != nil {
		return err
	}
	rel := filepath.Join(podsDir, uid)
	err := r.mkdirAll(podsDir)
	if err == nil {
		err = r.mkdirAll(trashDir)
	}
	if err == nil {
		err = r.checkMounts(rel)
	}
	if err == nil {
		// The trash may still contain an older pod with this UID.
		err = r.dir.Rename(rel, filepath.Join(trashDir, uid+"."+rand.Text()))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
	}
	return r.describe("move to the trash", rel, err)
}

// EmptyTrash deletes everything in the trash, including leftovers of earlier processes. It
// returns when ctx is done, even in the middle of a large volume. The error names every
// entry that cannot be deleted; the next call tries again.
func (r *RootDir) EmptyTrash(ctx context.Context) error {
	entries, err := r.readDir(trashDir)
	errs := []error{err}
	for _, entry := range entries {
		errs = append(errs, r.delete(ctx, filepath.Join(trashDir, entry.Name())))
	}
	return errors.Join(errs...)
}

// delete deletes rel and everything below it. RemoveAll follows no links. It cannot be
// canceled, so its goroutine may run until the process exits.
func (r *RootDir) delete(ctx context.Context, rel string) error {
	err := ctx.Err()
	if err == nil {
		err = r.mkdirAll(filepath.Dir(rel))
	}
	if err == nil {
		err = r.checkMounts(rel)
	}
	if err == nil {
		done := make(chan error, 1)
		go func() { done <- r.dir.RemoveAll(rel) }()
		select {
		case err = <-done:
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	return r.describe("delete", rel, err)
}

// checkMounts returns an error if rel is a mount point, contains one or lies below one.
// root_dir itself may be a mount point.
func (r *RootDir) checkMounts(rel string) error {
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return fmt.Errorf("look for mount points: %w", err)
	}
	if point := lastMount(string(table), r.path, r.abs(rel)); point != "" {
		return fmt.Errorf("%q is a mount point: unmount it with: sudo umount %s", point, shellQuote(point))
	}
	return nil
}

// lastMount returns the newest mount point below root that is inside path or contains it,
// or "". The mount point is the fifth field of each line in mountinfo.
func lastMount(table, root, path string) (last string) {
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\043`, "#", `\134`, `\`)
	for line := range strings.Lines(table) {
		point := unescape.Replace(strings.Fields(line)[4])
		if point != root && isIn(point, root) && (isIn(point, path) || isIn(path, point)) {
			last = point
		}
	}
	return last
}

// isIn reports whether path is dir or below it.
func isIn(path, dir string) bool { return strings.HasPrefix(path+"/", dir+"/") }

// describe adds the action and the path to an error. If this process cannot delete the path,
// because of another user's files or a tree too deep for its file limit, it adds the command
// that can.
func (r *RootDir) describe(action, rel string, err error) error {
	if err == nil {
		return nil
	}
	if link, ok := errors.AsType[*os.LinkError](err); ok {
		err = link.Err // omits the random name, so that a problem has the same text each time
	}
	command := ""
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, fs.ErrPermission) && os.Geteuid() != 0 {
		command = "; the kubelet will try again, or run: sudo rm -rf " + shellQuote(r.abs(rel))
	}
	return fmt.Errorf("%s %q: %w%s", action, r.abs(rel), err, command)
}

// shellQuote returns s as one word of a shell command.
func shellQuote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
