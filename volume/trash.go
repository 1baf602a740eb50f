package volume

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
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

// MoveToTrash moves everything of a UID to the trash, where EmptyTrash deletes it: one
// rename, so that a new pod with this UID starts with empty volumes. It is refused while
// something is mounted in there. A UID without a directory is no error.
//
// The caller makes sure that the UID has no containers. 2014 deleted volumes while
// containers still wrote to them.
func (r *RootDir) MoveToTrash(uid string) error {
	if err := checkName("uid", uid); err != nil {
		return err
	}
	rel := filepath.Join(podsDir, uid)
	err := cmp.Or(r.mkdirAll(podsDir), r.mkdirAll(trashDir), r.checkMounts(rel))
	if err == nil {
		// An older pod with this UID may still lie in the trash.
		err = r.dir.Rename(rel, filepath.Join(trashDir, uid+"."+rand.Text()))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
	}
	return r.describe("move to the trash", rel, err)
}

// EmptyTrash deletes what is in the trash, also what an earlier process left there. It
// returns when ctx is done, even in the middle of a large volume. The error names what
// cannot be deleted; the next call tries again.
func (r *RootDir) EmptyTrash(ctx context.Context) error {
	entries, err := r.readDir(trashDir)
	errs := []error{err}
	for _, entry := range entries {
		errs = append(errs, r.delete(ctx, filepath.Join(trashDir, entry.Name())))
	}
	return errors.Join(errs...)
}

// delete deletes rel and all below it. RemoveAll follows no link, and it cannot be
// canceled, so its goroutine may work until the process ends.
func (r *RootDir) delete(ctx context.Context, rel string) error {
	err := cmp.Or(ctx.Err(), r.mkdirAll(filepath.Dir(rel)), r.checkMounts(rel))
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

// checkMounts returns an error if the path rel of root_dir is a mount point, contains
// one or lies below one. root_dir itself may be a mount point.
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

// lastMount returns the newest mount point below root that lies in path or contains it,
// or "". The mount point is the fifth field of a line of the mountinfo table.
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

// describe adds the action and the path to an error, and the command that deletes the path
// if this process cannot: files of another user, or a tree deeper than its limit of files.
func (r *RootDir) describe(action, rel string, err error) error {
	if err == nil {
		return nil
	}
	if link, ok := errors.AsType[*os.LinkError](err); ok {
		err = link.Err // without the random name: the same problem has the same text each time
	}
	command := ""
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, fs.ErrPermission) && os.Geteuid() != 0 {
		command = "; it is tried again, or run: sudo rm -rf " + shellQuote(r.abs(rel))
	}
	return fmt.Errorf("%s %q: %w%s", action, r.abs(rel), err, command)
}

// shellQuote returns s as one word of a shell command.
func shellQuote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
