package volume

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// PodUIDs gives the UIDs that have a directory, sorted.
func (r *RootDir) PodUIDs() ([]string, error) {
	names, err := r.entries(podsDir)
	if err != nil {
		return nil, fmt.Errorf("list the pods' directories: %w", err)
	}
	return slices.DeleteFunc(names, func(name string) bool {
		info, err := r.root.Lstat(filepath.Join(podsDir, name))
		return err != nil || !info.IsDir() || checkElement("uid", name) != nil
	}), nil
}

// SetAside takes everything of a UID out of the way of a new pod with the same UID,
// to be deleted by EmptyTrash: one rename, so a crash leaves it whole on either
// side. It refuses while something is mounted in there. A UID without a directory
// is no error.
//
// The caller makes sure that no container of the UID is left. 2014 deleted volumes
// under containers that were still writing to them.
func (r *RootDir) SetAside(uid string) error {
	if err := checkElement("uid", uid); err != nil {
		return err
	}
	_, err := r.setAside(filepath.Join(podsDir, uid), uid)
	return err
}

// setAside moves rel into the trash, and says under which name, which begins as
// told. The name is empty when there is no rel.
func (r *RootDir) setAside(rel, name string) (entry string, err error) {
	_, err = r.lstat(rel)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err == nil {
		err = r.checkMounts(rel)
	}
	if err == nil {
		err = r.mkdirs(trashDir)
	}
	if err == nil {
		entry, err = r.freeEntry(name)
	}
	if err == nil {
		err = withCommand(r.root.Rename(rel, filepath.Join(trashDir, entry)), r.abs(rel))
	}
	if err != nil {
		return "", fmt.Errorf("set aside %q: %w", r.abs(rel), err)
	}
	return entry, nil
}

// freeEntry gives a name that nothing in the trash has: an earlier pod of the same
// UID may still lie there.
func (r *RootDir) freeEntry(name string) (string, error) {
	for n := 0; ; n++ {
		entry := fmt.Sprintf("%s.%d", name, n)
		_, err := r.root.Lstat(filepath.Join(trashDir, entry))
		if errors.Is(err, fs.ErrNotExist) {
			return entry, nil
		}
		if err != nil {
			return "", err
		}
	}
}

// EmptyTrash deletes all that is set aside, also by an earlier life of the kubelet,
// until ctx is done. What cannot be deleted stays, to be tried by the next call; the
// error names each such entry and the command that would delete it.
func (r *RootDir) EmptyTrash(ctx context.Context) error {
	entries, err := r.entries(trashDir)
	if err != nil {
		return fmt.Errorf("list the trash: %w", err)
	}
	var errs []error
	for _, entry := range entries {
		if ctx.Err() != nil {
			return errors.Join(append(errs, ctx.Err())...)
		}
		errs = append(errs, r.deleteTrash(ctx, entry))
	}
	return errors.Join(errs...)
}

// deleteTrash deletes one entry of the trash, and then what lies too deep in it, which
// becomes an entry of its own.
func (r *RootDir) deleteTrash(ctx context.Context, entry string) error {
	rel := filepath.Join(trashDir, entry)
	if err := r.checkMounts(rel); err != nil {
		return fmt.Errorf("delete %q: %w", r.abs(rel), err)
	}
	trash, err := r.root.OpenRoot(trashDir)
	if err != nil {
		return fmt.Errorf("delete %q: %w", r.abs(rel), err)
	}
	defer trash.Close()
	for next := entry; next != ""; {
		path, deeper, n := r.abs(filepath.Join(trashDir, next)), "", 0
		err := removeTree(ctx, trash, path, maxLevels, func(deep string) (err error) {
			if deeper == "" {
				if deeper, err = r.freeEntry(entry); err == nil {
					err = trash.Mkdir(deeper, 0o750)
				}
			}
			if err == nil {
				n++
				err = trash.Rename(strings.TrimPrefix(deep, r.abs(trashDir)+"/"), filepath.Join(deeper, strconv.Itoa(n)))
			}
			if err != nil {
				return fmt.Errorf("delete %q: %w", deep, err)
			}
			return nil
		})
		if err != nil {
			return withCommand(err, path)
		}
		next = deeper
	}
	return nil
}

// entries lists a directory of root_dir, sorted. It may be missing, and must not
// be a link: what that leads to is not set aside.
func (r *RootDir) entries(rel string) ([]string, error) {
	info, err := r.root.Lstat(rel)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = r.mustBeDir(rel, info)
	}
	if err != nil {
		return nil, err
	}
	names, err := r.list(rel)
	slices.Sort(names)
	return names, err
}
