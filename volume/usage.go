package volume

import (
	"context"
	"io/fs"
	"path/filepath"
	"syscall"
)

// Usage returns how many bytes of the disk, and how many files, the EmptyDirs of a UID have. What cannot be read is left out.
func (r *RootDir) Usage(ctx context.Context, uid string) (bytes, files int64) {
	fs.WalkDir(r.dir.FS(), filepath.Join(podsDir, uid, "volumes"), func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			if info, err := entry.Info(); err == nil {
				bytes, files = bytes+info.Sys().(*syscall.Stat_t).Blocks*512, files+1
			}
		}
		return ctx.Err()
	})
	return bytes, files
}
