package volume

import (
	"context"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
)

// Usage returns how many bytes of the disk, and how many files and directories, the EmptyDirs of a UID have. What cannot be
// read is left out.
func (r *RootDir) Usage(ctx context.Context, uid string) (bytes, files int64) {
	volumes := filepath.Join(podsDir, uid, "volumes") // KIND/NAME
	fs.WalkDir(r.dir.FS(), volumes, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && strings.Count(path[len(volumes):], "/") > 2 {
			if info, err := entry.Info(); err == nil {
				bytes, files = bytes+info.Sys().(*syscall.Stat_t).Blocks*512, files+1
			}
		}
		return ctx.Err()
	})
	return bytes, files
}
