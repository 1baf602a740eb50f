package volume

import (
	"context"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// maxOpenDirs is how many directories a walk may have open at a time: one for each level that has more to visit.
const maxOpenDirs = 256

// Usage is what a pod uses on the disk of the root_dir.
type Usage struct {
	Bytes, Files int64 // directories count as files
	AtLeast      bool  // the walk ended before it had counted everything
}

// Usage measures the EmptyDirs and the termination messages of a UID. It stops when ctx is done and after maxFiles files, because a
// container can create as many as it likes, as deep as it likes. It follows no links, and skips files on another disk and those that
// it cannot read.
func (r *RootDir) Usage(ctx context.Context, uid string, maxFiles int64) Usage {
	w := walk{ctx: ctx, maxFiles: maxFiles}
	pod := filepath.Join(podsDir, uid)
	if messages, err := r.dir.Open(filepath.Join(pod, "termination")); err == nil {
		w.enter(messages, true)
		w.Files = 0 // the kubelet created them, not the pod
	}
	if volumes, err := r.dir.Open(filepath.Join(pod, emptyDirs)); err == nil {
		w.enter(volumes, false)
	}
	for len(w.open) > 0 {
		w.next()
	}
	return w.Usage
}

// walk is a walk through directories that may change meanwhile. Each is opened relative to its parent, by its name alone, so depth
// costs nothing and no link leads out.
type walk struct {
	Usage
	ctx      context.Context
	maxFiles int64
	open     []*openDir // each is inside the one before it
}

// openDir is an open directory with subdirectories still to visit.
type openDir struct {
	file  *os.File
	disk  uint64
	below []string
}

// enter counts the entries of a directory, if counts is set, and records its subdirectories.
func (w *walk) enter(file *os.File, counts bool) {
	var stat unix.Stat_t
	_ = unix.Fstat(int(file.Fd()), &stat) // cannot fail: the file is open
	dir := &openDir{file: file, disk: stat.Dev}
	w.open = append(w.open, dir)
	w.AtLeast = w.AtLeast || len(w.open) > maxOpenDirs
	for {
		names, err := file.Readdirnames(1000)
		if err != nil {
			w.AtLeast = w.AtLeast || err != io.EOF
			return
		}
		for _, name := range names {
			if w.AtLeast = w.AtLeast || w.Files >= w.maxFiles || w.ctx.Err() != nil; w.AtLeast {
				return
			}
			if unix.Fstatat(int(file.Fd()), name, &stat, unix.AT_SYMLINK_NOFOLLOW) != nil || stat.Dev != dir.disk {
				continue
			}
			if counts {
				w.Bytes, w.Files = w.Bytes+stat.Blocks*512, w.Files+1
			}
			if stat.Mode&unix.S_IFMT == unix.S_IFDIR {
				dir.below = append(dir.below, name)
			}
		}
	}
}

// next enters one more subdirectory, or leaves a directory that has none left. A directory is closed with the visit to its
// last subdirectory, so a chain of directories does not pile up open files.
func (w *walk) next() {
	last := len(w.open) - 1
	dir := w.open[last]
	n := len(dir.below) - 1
	if n <= 0 || w.AtLeast {
		defer dir.file.Close()
		w.open = w.open[:last]
	}
	if w.AtLeast || n < 0 {
		return
	}
	fd, err := unix.Openat(int(dir.file.Fd()), dir.below[n], unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	dir.below = dir.below[:n]
	if err == nil {
		w.enter(os.NewFile(uintptr(fd), ""), true)
	}
}
