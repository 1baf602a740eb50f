package volume

import (
	"fmt"

	"kubelet14/api"
)

// CreateVolume gives the volume that v asks for in the pod with this UID. It
// touches nothing: SetUp does. A volume without a source gives nil and no error, a
// source of no known kind ErrUnsupportedVolumeType.
func CreateVolume(v *api.Volume, podUID string, root *RootDir) (Interface, error) {
	source := v.Source
	switch {
	case source == nil:
		return nil, nil
	case source.HostDir != nil:
		return createHostDirectory(source.HostDir), nil
	case source.EmptyDir != nil:
		return createEmptyDirectory(v.Name, podUID, root)
	}
	return nil, fmt.Errorf("create volume %q: %w", v.Name, ErrUnsupportedVolumeType)
}
