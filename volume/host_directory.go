package volume

import (
	"context"

	"kubelet14/api"
)

// HostDirectory is a directory of the host that a pod may mount. It is the
// operator's: the kubelet only passes its path on, as in 2014.
type HostDirectory struct {
	path string
}

func createHostDirectory(source *api.HostDir) *HostDirectory {
	return &HostDirectory{path: source.Path}
}

// SetUp does nothing. Docker refuses to mount a directory that is not there.
func (*HostDirectory) SetUp() error { return nil }

// GetPath is the path in the manifest.
func (h *HostDirectory) GetPath() string { return h.path }

// TearDown does nothing.
func (*HostDirectory) TearDown(context.Context) error { return nil }
