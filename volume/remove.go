package volume

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// maxLevels is how deep removeTree goes: each level costs two open files and the memory
// of its path, and a container can make any number of them.
const maxLevels = 100

// removeTree deletes path, an entry of dir, with all below it. It goes on after an
// error, so that as much as possible goes, and returns the first one.
//
// It is os.Root.RemoveAll with an end when ctx is done, since a volume of millions
// of files must not hold up the stop of the kubelet, and with the path that failed
// in the error. Each directory on the way down is opened as a root of its own, so
// that a link put in its place at the wrong moment leads nowhere else. It goes down so
// many levels: aside takes away a directory that lies below them.
func removeTree(ctx context.Context, dir *os.Root, path string, levels int, aside func(path string) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	name := filepath.Base(path)
	err := dir.Remove(name)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if info, statErr := dir.Lstat(name); statErr == nil && info.IsDir() {
		if levels == 0 {
			return aside(path)
		}
		if err := removeBelow(ctx, dir, path, levels-1, aside); err != nil {
			return err
		}
		err = dir.Remove(name)
	}
	if err != nil {
		return fmt.Errorf("delete %q: %w", path, err)
	}
	return nil
}

// removeBelow deletes what is in the directory path, an entry of parent.
func removeBelow(ctx context.Context, parent *os.Root, path string, levels int, aside func(path string) error) error {
	dir, err := parent.OpenRoot(filepath.Base(path))
	if err != nil {
		return fmt.Errorf("delete %q: %w", path, err)
	}
	defer dir.Close()
	list, err := dir.Open(".")
	if err != nil {
		return fmt.Errorf("delete %q: %w", path, err)
	}
	defer list.Close()
	var first error
	for ctx.Err() == nil {
		names, err := list.Readdirnames(100)
		for _, name := range names {
			if err := removeTree(ctx, dir, filepath.Join(path, name), levels, aside); first == nil {
				first = err
			}
		}
		if err != nil && err != io.EOF && first == nil {
			first = fmt.Errorf("delete %q: %w", path, err)
		}
		if err != nil {
			return first
		}
	}
	return ctx.Err()
}

// withCommand adds to a lack of rights the command that would delete path. Files
// that a container's root made need a root to delete them; what not even root may
// delete has an attribute of its file system, set with chattr.
func withCommand(err error, path string) error {
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	command := "sudo rm -rf " + shellQuote(path)
	if os.Geteuid() == 0 && errors.Is(err, syscall.EPERM) {
		command = "sudo chattr -R -f -i -a " + shellQuote(path) + "; " + command
	}
	return fmt.Errorf("%w; it is tried again, and this would do it: %s", err, command)
}

// shellQuote writes s as one word of a shell.
func shellQuote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
