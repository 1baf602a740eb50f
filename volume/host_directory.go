package volume

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"kubelet14/api"
)

// HostDirectory is a directory of the host, or what its type says.
type HostDirectory struct{ api.HostDir }

func (h *HostDirectory) GetPath() string { return h.Path }

// hostDirModes has the type of what must be at the path of a HostDirectory.
var hostDirModes = map[api.HostDirType]fs.FileMode{
	api.HostDirDirectory: fs.ModeDir, api.HostDirDirectoryOrCreate: fs.ModeDir, api.HostDirFile: 0, api.HostDirFileOrCreate: 0,
	api.HostDirSocket: fs.ModeSocket, api.HostDirCharDevice: fs.ModeDevice | fs.ModeCharDevice, api.HostDirBlockDevice: fs.ModeDevice,
}

// SetUp checks what is at the path, and makes it if the type says so. Without a type only the
// path is passed on, as in 2014.
func (h *HostDirectory) SetUp() error {
	mode, typed := hostDirModes[h.Type]
	if !typed {
		return nil
	}
	info, err := os.Stat(h.Path)
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case missing && h.Type == api.HostDirDirectoryOrCreate:
		return os.MkdirAll(h.Path, 0o755)
	case missing && h.Type == api.HostDirFileOrCreate:
		f, err := os.OpenFile(h.Path, os.O_CREATE, 0o644)
		if err == nil {
			f.Close()
		}
		return err
	case missing:
		return fmt.Errorf("%s is missing, and must be a %s", h.Path, h.Type)
	case err == nil && info.Mode().Type() != mode:
		return fmt.Errorf("%s is not a %s: its mode is %v", h.Path, strings.TrimSuffix(string(h.Type), "OrCreate"), info.Mode())
	}
	return err
}
