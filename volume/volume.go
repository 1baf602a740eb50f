package volume

import (
	"context"
	"errors"
)

// Interface is a directory a pod's containers can mount. Its methods may be
// called again at any time and do nothing the second time; one pod's worker
// calls them, never two goroutines at once for the same volume.
type Interface interface {
	// SetUp makes the directory ready to be mounted. It runs before each creation
	// of a container that mounts it, and leaves data that is there alone.
	SetUp() error
	// GetPath is the directory's absolute path on the host. It touches nothing.
	GetPath() string
	// TearDown gives up what SetUp made. It takes as long as it takes to delete the
	// data, or until ctx is done.
	TearDown(ctx context.Context) error
}

// ErrUnsupportedVolumeType is CreateVolume's answer to a source of no known kind.
var ErrUnsupportedVolumeType = errors.New("unsupported volume type")
