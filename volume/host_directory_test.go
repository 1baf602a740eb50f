package volume

import (
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"testing"

	"kubelet14/api"
	"kubelet14/api/unittest"
)

func TestTypesOfHostDirectories(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	write(t, path("dir/file"), "the user's")
	unittest.Must(t, os.Symlink("dir", path("link")))
	socket, err := net.Listen("unix", path("socket"))
	unittest.Must(t, err)
	defer socket.Close()
	for _, tt := range []struct {
		kind     api.HostDirType
		good     string // paths that it may have
		bad      string
		problem  string
		made     string // what it makes
		madeMode fs.FileMode
	}{
		{"", "missing", "", "", "", 0},
		{api.HostDirDirectory, "dir", "dir/file", " is not a Directory: its mode is -rw-r--r--", "", 0},
		{api.HostDirDirectory, "link", "missing", " is missing, and must be a Directory", "", 0},
		{api.HostDirDirectoryOrCreate, "dir", "dir/file", " is not a Directory: ", "new/er", fs.ModeDir | 0o755},
		{api.HostDirFile, "dir/file", "dir", " is not a File: ", "", 0},
		{api.HostDirFileOrCreate, "dir/file", "dir", " is not a File: ", "new/file", 0o644},
		{api.HostDirFileOrCreate, "dir/file", "missing/file", ": no such file or directory", "", 0},
		{api.HostDirSocket, "socket", "dir/file", " is not a Socket: ", "", 0},
		{api.HostDirCharDevice, "/dev/null", "dir/file", " is not a CharDevice: ", "", 0},
		{api.HostDirBlockDevice, "", "/dev/null", " is not a BlockDevice: ", "", 0},
	} {
		setUp := func(name string) error {
			if !filepath.IsAbs(name) {
				name = path(name)
			}
			return (&HostDirectory{api.HostDir{Path: name, Type: tt.kind}}).SetUp()
		}
		if tt.good != "" {
			unittest.Must(t, setUp(tt.good))
		}
		if tt.bad != "" {
			unittest.Says(t, setUp(tt.bad), tt.bad+tt.problem)
		}
		if tt.made != "" {
			unittest.Must(t, setUp(tt.made))
			unittest.Must(t, setUp(tt.made)) // it is there
			wantMode(t, path(tt.made), tt.madeMode)
		}
	}
	wantText(t, path("dir/file"), "the user's")
	wantGone(t, path("missing"))
}
