package volume

import (
	"context"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// maxOpenDirs is how many directories a walk has open at a time. It opens one for each level at which it has more to visit.
const maxOpenDirs = 256

// Usage is what a pod has on the disk of the root_dir.
type Usage struct {
	Bytes, Files int64 // directories are files
	AtLeast      bool  // there was more than could be counted
}

// Usage counts what the EmptyDirs and the termination messages of a UID have. It ends when ctx is done and after maxFiles files: a
// container can make as many as it likes, as deep as it likes. It follows no link, and leaves out what cannot be read and what lies
// on another disk.
func (r *RootDir) Usage(ctx context.Context, uid string, maxFiles int64) Usage {
	w := walk{ctx: ctx, maxFiles: maxFiles}
	pod := filepath.Join(podsDir, uid)
	if messages, err := r.dir.Open(filepath.Join(pod, "termination")); err == nil {
		w.enter(messages, true)
		w.Files = 0 // this kubelet has made them
	}
	if volumes, err := r.dir.Open(filepath.Join(pod, emptyDirs)); err == nil {
		w.enter(volumes, false)
	}
	for len(w.open) > 0 {
		w.next()
	}
	return w.Usage
}

// walk is a walk through directories that others change meanwhile. Each is opened from the one above it, by its name alone, so that
// the depth costs nothing and no link leads out.
type walk struct {
	Usage
	ctx      context.Context
	maxFiles int64
	open     []*openDir // each lies below the one before it
}

// openDir is a directory that has directories below it, still to be visited.
type openDir struct {
	file  *os.File
	disk  uint64
	below []string
}

// enter counts what lies in a directory, if that is wanted, and notes the directories in it.
func (w *walk) enter(file *os.File, counts bool) {
	var stat unix.Stat_t
	_ = unix.Fstat(int(file.Fd()), &stat) // it is open
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

// next enters one more directory, or leaves one that has no more below it. The last one is entered when its parent is closed, so that
// a chain of directories has one open.
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
