package volume

import (
	"errors"
	"io/fs"
	"path/filepath"
	"testing"

	"kubelet14/api"
)

func TestCreateVolumeKnowsEachKind(t *testing.T) {
	r := openRoot(t)
	tests := []struct {
		name   string
		source *api.VolumeSource
		path   string // none: no volume
		err    error
	}{
		{"hostDir", &api.VolumeSource{HostDir: &api.HostDir{Path: "/dir/path"}}, "/dir/path", nil},
		{"emptyDir", &api.VolumeSource{EmptyDir: &api.EmptyDir{}}, filepath.Join(r.Path(), "pods/my-id/volumes/kubernetes.io~empty-dir/emptyDir"), nil},
		{"no source", nil, "", nil},
		{"no known kind", &api.VolumeSource{}, "", ErrUnsupportedVolumeType},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			vol, err := CreateVolume(&api.Volume{Name: tt.name, Source: tt.source}, "my-id", r)
			if !errors.Is(err, tt.err) {
				t.Fatalf("error is %v, want %v", err, tt.err)
			}
			if err != nil {
				wantError(t, err, tt.name)
			}
			if tt.path == "" {
				if vol != nil {
					t.Fatalf("got a volume at %q, want none", vol.GetPath())
				}
				return
			}
			if vol.GetPath() != tt.path {
				t.Errorf("path is %q, want %q", vol.GetPath(), tt.path)
			}
		})
	}
	if got, err := r.list("."); err != nil || len(got) != 1 {
		t.Errorf("CreateVolume touched the disk: %v, %v", got, err)
	}
}

func TestNamesThatAreNoPlainNamesAreRefused(t *testing.T) {
	r := openRoot(t)
	for _, bad := range []string{"", ".", "..", "../x", "a/b", "/", `a\b`, "a\x00b", ".hidden"} {
		v := &api.Volume{Name: bad, Source: &api.VolumeSource{EmptyDir: &api.EmptyDir{}}}
		if vol, err := CreateVolume(v, "uid", r); !errors.Is(err, fs.ErrInvalid) || vol != nil {
			t.Errorf("volume name %q: got %v, %v", bad, vol, err)
		}
		v.Name = "good"
		if vol, err := CreateVolume(v, bad, r); !errors.Is(err, fs.ErrInvalid) || vol != nil {
			t.Errorf("uid %q: got %v, %v", bad, vol, err)
		}
		if err := r.SetAside(bad); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("set aside uid %q: got %v", bad, err)
		}
	}
}

func TestHostDirectoryIsNeverTouched(t *testing.T) {
	r := openRoot(t)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "data"), "the operator's")
	missing := filepath.Join(dir, "missing")
	for _, path := range []string{dir, missing} {
		v := &api.Volume{Name: "host", Source: &api.VolumeSource{HostDir: &api.HostDir{Path: path}}}
		vol, err := CreateVolume(v, "uid", r)
		must(t, err)
		must(t, vol.SetUp())
		must(t, vol.TearDown(t.Context()))
	}
	wantText(t, filepath.Join(dir, "data"), "the operator's")
	wantGone(t, missing)
}
