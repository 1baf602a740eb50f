package volume

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

func wantUIDs(t *testing.T, r *RootDir, want ...string) {
	t.Helper()
	if got, err := r.PodUIDs(); err != nil || !slices.Equal(got, want) {
		t.Errorf("PodUIDs is %q, %v; want %q; root_dir holds\n%s", got, err, want, tree(r.Path()))
	}
}

func TestPodUIDsAreThoseThatHaveADirectory(t *testing.T) {
	r := openRoot(t)
	wantUIDs(t, r)
	setUp(t, r, "b", "vol")
	setUp(t, r, "a", "vol")
	setUp(t, r, "a", "vol2")
	write(t, filepath.Join(r.Path(), "pods/file"), "")
	must(t, os.Mkdir(filepath.Join(r.Path(), "pods/.hidden"), 0o755))
	must(t, os.Symlink("a", filepath.Join(r.Path(), "pods/link")))
	wantUIDs(t, r, "a", "b")
}

func TestOrphanGoesAndItsNeighbourStays(t *testing.T) {
	r := openRoot(t)
	orphan, neighbour := setUp(t, r, "orphan", "vol"), setUp(t, r, "neighbour", "vol")
	write(t, filepath.Join(orphan, "a/b/c"), "data")
	write(t, filepath.Join(neighbour, "file"), "data")

	must(t, r.SetAside("orphan"))
	wantUIDs(t, r, "neighbour")
	wantText(t, filepath.Join(r.Path(), "trash/orphan.0/volumes", emptyDirKind, "vol/a/b/c"), "data")

	must(t, r.EmptyTrash(t.Context()))
	wantGone(t, filepath.Join(r.Path(), "trash/orphan.0"))
	wantText(t, filepath.Join(neighbour, "file"), "data")
}

func TestSetAsideOfAUIDThatIsNotThere(t *testing.T) {
	r := openRoot(t)
	must(t, r.SetAside("uid"))
	must(t, r.EmptyTrash(t.Context()))
}

// A pod that comes back under its UID starts with empty volumes, at once.
func TestUIDComesBackBeforeItsTrashIsGone(t *testing.T) {
	r := openRoot(t)
	for life := range 3 {
		path := setUp(t, r, "uid", "vol")
		if in, err := os.ReadDir(path); err != nil || len(in) > 0 {
			t.Errorf("life %d begins with %v (error %v) in its volume", life, in, err)
		}
		write(t, filepath.Join(path, "life"), fmt.Sprint(life))
		must(t, r.SetAside("uid"))
	}
	for life := range 3 {
		wantText(t, filepath.Join(r.Path(), "trash", fmt.Sprintf("uid.%d", life), "volumes", emptyDirKind, "vol/life"), fmt.Sprint(life))
	}
	must(t, r.EmptyTrash(t.Context()))
	if left, err := r.list(trashDir); err != nil || len(left) > 0 {
		t.Errorf("the trash holds %q (error %v), want nothing", left, err)
	}
}

func TestTrashOfAnEarlierLifeIsEmptied(t *testing.T) {
	r := openRoot(t)
	write(t, filepath.Join(setUp(t, r, "uid", "vol"), "file"), "data")
	must(t, r.SetAside("uid"))
	must(t, r.Close())

	again, err := OpenRootDir(r.Path())
	must(t, err)
	defer again.Close()
	must(t, again.EmptyTrash(t.Context()))

	wantGone(t, filepath.Join(r.Path(), "trash/uid.0"))
}

// What a container put into its volume is deleted whatever its name, and what a
// link of it leads to stays.
func TestDeletingFollowsNoLinkAndMindsNoName(t *testing.T) {
	r := openRoot(t)
	outside := t.TempDir()
	write(t, filepath.Join(outside, "dir/file"), "theirs")
	neighbour := setUp(t, r, "neighbour", "vol")
	write(t, filepath.Join(neighbour, "file"), "its own")
	for _, remove := range []func(vol Interface) error{
		func(vol Interface) error { return vol.TearDown(t.Context()) },
		func(Interface) error { return errors.Join(r.SetAside("uid"), r.EmptyTrash(t.Context())) },
	} {
		vol := emptyDir(t, r, "uid", "vol")
		must(t, vol.SetUp())
		for i, target := range []string{outside, outside + "/dir", outside + "/dir/file", "/", "..", "../../../../neighbour", neighbour, "self", "missing"} {
			must(t, os.Symlink(target, filepath.Join(vol.GetPath(), fmt.Sprintf("link%d", i))))
		}
		must(t, os.Symlink("self", filepath.Join(vol.GetPath(), "self")))
		for _, name := range []string{"a b", "new\nline", "'quote'", `"double"`, `back\slash`, "-rf", "~", "*", "\xff\xfe", "...", "$(x)"} {
			write(t, filepath.Join(vol.GetPath(), name, name), "data")
		}
		must(t, os.Link(filepath.Join(outside, "dir/file"), filepath.Join(vol.GetPath(), "hard")))

		must(t, remove(vol))

		wantGone(t, vol.GetPath())
		wantText(t, filepath.Join(outside, "dir/file"), "theirs")
		wantText(t, filepath.Join(neighbour, "file"), "its own")
		if left, err := r.list(trashDir); err != nil || len(left) > 0 {
			t.Errorf("the trash holds %q (error %v), want nothing", left, err)
		}
	}
}

// A link in the place of a pod's directory, or of our own directories, is not what
// it leads to.
func TestLinksPlantedInRootDirAreNotFollowed(t *testing.T) {
	for _, level := range []string{"pods", "pods/uid", "trash", "trash/uid.0"} {
		for _, inside := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, target inside: %v", level, inside), func(t *testing.T) {
				r := openRoot(t)
				target := filepath.Join(filepath.Dir(r.Path()), "outside")
				if inside {
					target = filepath.Join(r.Path(), "inside")
				}
				data := filepath.Join(target, "uid/file")
				write(t, data, "data")
				link := filepath.Join(r.Path(), level)
				name, err := filepath.Rel(filepath.Dir(link), target)
				must(t, err)
				must(t, os.MkdirAll(filepath.Dir(link), 0o750))
				must(t, os.Symlink(name, link))
				if level == "trash" {
					setUp(t, r, "uid", "vol") // so that there is something to set aside
				}

				uids, listErr := r.PodUIDs()
				asideErr, trashErr := r.SetAside("uid"), r.EmptyTrash(t.Context())

				t.Logf("PodUIDs: %q, %v; SetAside: %v; EmptyTrash: %v", uids, listErr, asideErr, trashErr)
				switch level {
				case "pods":
					wantError(t, listErr, link, "is not a directory")
					wantError(t, asideErr, link, "is not a directory")
				case "trash":
					wantError(t, asideErr, link, "is not a directory")
					wantError(t, trashErr, link, "is not a directory")
				}
				wantText(t, data, "data")
			})
		}
	}
}

func TestEmptyTrashGoesOnAfterAnErrorAndTriesAgain(t *testing.T) {
	r := openRoot(t)
	for _, uid := range []string{"a", "b", "c"} {
		write(t, filepath.Join(setUp(t, r, uid, "vol"), "file"), "data")
		must(t, r.SetAside(uid))
	}
	trash := filepath.Join(r.Path(), trashDir)
	pretendMounts(t, r, filepath.Join(trash, "a.0/x"), filepath.Join(trash, "c.0"))

	err := r.EmptyTrash(t.Context())

	wantError(t, err, filepath.Join(trash, "a.0"), filepath.Join(trash, "c.0")) // all errors, joined
	wantGone(t, filepath.Join(trash, "b.0"))
	wantText(t, filepath.Join(trash, "a.0/volumes", emptyDirKind, "vol/file"), "data")

	pretendMounts(t, r)
	must(t, r.EmptyTrash(t.Context()))
	if left, err := r.list(trashDir); err != nil || len(left) > 0 {
		t.Errorf("the trash holds %q (error %v), want nothing", left, err)
	}
}

// stopsAfter is done once it has been asked n times.
type stopsAfter struct {
	context.Context
	n *int
}

func (c stopsAfter) Err() error {
	if *c.n--; *c.n < 0 {
		return context.Canceled
	}
	return nil
}

// A volume of millions of files must not hold up the stop of the kubelet.
func TestDeletingStopsWithItsContext(t *testing.T) {
	for _, stopAfter := range []int{0, 1, 50, 250} {
		r := openRoot(t)
		vol := setUp(t, r, "uid", "vol")
		for i := range 300 {
			write(t, filepath.Join(vol, fmt.Sprint(i)), "")
		}
		must(t, r.SetAside("uid"))
		aside := filepath.Join(r.Path(), "trash/uid.0/volumes", emptyDirKind, "vol")

		err := r.EmptyTrash(stopsAfter{t.Context(), &stopAfter})

		if !errors.Is(err, context.Canceled) {
			t.Errorf("error is %v, want that of the context", err)
		}
		if left, err := os.ReadDir(aside); err != nil || len(left) < 300-250 {
			t.Errorf("%d of 300 files are left (error %v): it did not stop", len(left), err)
		}
		if stopAfter < -150 { // a batch of names, and the way back
			t.Errorf("it looked at %d files more after its end", -stopAfter)
		}
		must(t, r.EmptyTrash(t.Context()))
		wantGone(t, filepath.Join(r.Path(), "trash/uid.0"))
	}
}

// One pass over a directory deletes all of it, however large.
func TestLargeAndDeepVolumeIsDeleted(t *testing.T) {
	r := openRoot(t)
	vol := setUp(t, r, "uid", "vol")
	for i := range 450 {
		write(t, filepath.Join(vol, fmt.Sprint(i)), "")
	}
	deep := vol
	for range 100 {
		deep = filepath.Join(deep, "deeper")
	}
	write(t, filepath.Join(deep, "file"), "")
	must(t, r.SetAside("uid"))
	must(t, r.EmptyTrash(t.Context()))
	wantGone(t, filepath.Join(r.Path(), "trash/uid.0"))
}

// Each level costs files that are open while it is deleted, and a container can make more
// of them than there are.
func TestADeepTreeIsDeleted(t *testing.T) {
	r := openRoot(t)
	dir, err := os.OpenRoot(setUp(t, r, "u", "data"))
	must(t, err)
	for range 1000 {
		must(t, dir.Mkdir("deeper", 0o755))
		must(t, dir.Mkdir("beside", 0o755))
		below, err := dir.OpenRoot("deeper")
		must(t, err)
		dir.Close()
		dir = below
	}
	dir.Close()
	must(t, r.SetAside("u"))

	var limit syscall.Rlimit
	must(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	defer syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)
	must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 1000, Max: limit.Max}))
	must(t, r.EmptyTrash(t.Context()))
	wantNoTrash(t, r)
}

// What is above is not walked through again for each of the directories that lie too deep.
func TestATreeThatIsDeepInManyPlacesIsWalkedOnce(t *testing.T) {
	const places = 300
	r := openRoot(t)
	deep := setUp(t, r, "u", "data")
	for range maxLevels - 4 {
		deep = filepath.Join(deep, "deeper")
	}
	for i := range places {
		must(t, os.MkdirAll(filepath.Join(deep, fmt.Sprint(i), "below"), 0o755))
	}
	must(t, r.SetAside("u"))
	looks := 10 * (maxLevels + places)
	must(t, r.EmptyTrash(stopsAfter{t.Context(), &looks}))
	wantNoTrash(t, r)
}

func wantNoTrash(t *testing.T, r *RootDir) {
	t.Helper()
	if left, err := os.ReadDir(filepath.Join(r.Path(), trashDir)); err != nil || len(left) > 0 {
		t.Errorf("left in the trash: %v, %v", left, err)
	}
}
