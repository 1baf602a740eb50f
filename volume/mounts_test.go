package volume

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// pretendMounts lets r see these mount points alone, the oldest first.
func pretendMounts(t *testing.T, r *RootDir, points ...string) {
	t.Helper()
	table := "22 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"
	for _, point := range points {
		escaped := strings.NewReplacer(`\`, `\134`, " ", `\040`, "\t", `\011`, "\n", `\012`).Replace(point)
		table += "99 22 254:0 /some\\040where " + escaped + " rw,relatime shared:1 - ext4 /dev/vda rw\n"
	}
	r.mountinfo = filepath.Join(t.TempDir(), "mountinfo")
	must(t, os.WriteFile(r.mountinfo, []byte(table), 0o644))
}

func TestMountPointsAreReadAsTheKernelWritesThem(t *testing.T) {
	table := `27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
36 35 98:0 /mnt1 /mnt/parent rw,noatime master:1 shared:7 - ext3 /dev/root rw,errors=continue
40 27 0:38 / /a\040b\011c\012d\134e\134040 rw - tmpfs tmp\040fs rw
41 27 0:39 /x /ünï rw - tmpfs tmpfs rw
`
	want := []string{"/", "/mnt/parent", "/a b\tc\nd\\e\\040", "/ünï"}
	if got, err := mountPoints(table); err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}

func TestWhichMountsForbidDeleting(t *testing.T) {
	tests := []struct {
		point   string // %: root_dir
		forbids bool   // to set aside pods/uid
	}{
		{"%", false}, // root_dir on a disk of its own
		{"/", false},
		{"%/pods/uid", true},
		{"%/pods/uid/volumes/" + emptyDirKind + "/vol/m", true},
		{"%/pods/uid/new\nline 'quoted'", true},
		{"%/pods", true}, // what is in pods is not ours
		{"%/pods/uid2", false},
		{"%/pods/uid2/uid", false},
		{"%/trash", false},
		{"%-other/pods/uid", false},
		{"/pods/uid", false},
	}
	for _, tt := range tests {
		r := openRoot(t)
		file := filepath.Join(setUp(t, r, "uid", "vol"), "file")
		write(t, file, "data")
		point := strings.Replace(tt.point, "%", r.Path(), 1)
		pretendMounts(t, r, point)

		err := r.SetAside("uid")

		if !tt.forbids {
			if err != nil {
				t.Errorf("%s: %v", tt.point, err)
			}
			wantGone(t, filepath.Join(r.Path(), "pods/uid"))
			continue
		}
		wantError(t, err, filepath.Join(r.Path(), "pods/uid"), "is a mount point", "sudo umount "+shellQuote(point))
		wantText(t, file, "data")
	}
}

func TestSeveralMountsAreUnmountedTheLastFirst(t *testing.T) {
	r := openRoot(t)
	vol := setUp(t, r, "uid", "vol")
	pretendMounts(t, r, vol+"/a", vol+"/a/b")
	wantError(t, r.SetAside("uid"), "sudo umount '"+vol+"/a/b' '"+vol+"/a'")
}

func TestMountInTheTrashStopsTheDeleting(t *testing.T) {
	for _, point := range []string{"trash", "trash/uid.0", "trash/uid.0/volumes"} {
		r := openRoot(t)
		write(t, filepath.Join(setUp(t, r, "uid", "vol"), "file"), "data")
		must(t, r.SetAside("uid"))
		pretendMounts(t, r, filepath.Join(r.Path(), point))

		wantError(t, r.EmptyTrash(t.Context()), "sudo umount '"+filepath.Join(r.Path(), point)+"'")

		wantText(t, filepath.Join(r.Path(), "trash/uid.0/volumes", emptyDirKind, "vol/file"), "data")
	}
}

func TestWithoutAReadableTableNothingIsDeleted(t *testing.T) {
	for _, table := range []string{"", "nonsense\n"} {
		r := openRoot(t)
		vol := setUp(t, r, "uid", "vol")
		r.mountinfo = filepath.Join(t.TempDir(), "mountinfo")
		if table != "" {
			write(t, r.mountinfo, table)
		}
		wantError(t, r.SetAside("uid"), "mount points", r.mountinfo)
		wantError(t, emptyDir(t, r, "uid", "vol").TearDown(t.Context()), "mount points")
		wantMode(t, vol, os.ModeDir|0o777)
	}
}
