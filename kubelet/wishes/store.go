package wishes

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"

	"github.com/golang/glog"

	"kubelet14/api"
)

const (
	wishesDir = "wishes"
	newFile   = "wishes/new" // which is being written
	maxSize   = 4 << 10      // bytes of a wish
)

// store is the root_dir with the files of the wishes. Nothing is read or written outside of it, whatever a name or a link says.
type store string

var fullName = regexp.MustCompile(`^[a-z0-9][-a-z0-9.]*$`)

// pathOf returns the path of a pod's file in the root_dir. The longest name is just as long as the name of a file may be.
func pathOf(podFullName string) (string, error) {
	name, namespace, source := api.SplitFullName(podFullName)
	if name == "" || !fullName.MatchString(podFullName) {
		return "", fmt.Errorf("%q is not the full name of a pod", podFullName)
	}
	return path.Join(wishesDir, namespace+"."+source, name), nil
}

// readAll returns the wishes by full name. A root_dir that does not exist has none.
func (s store) readAll() (map[string]wish, error) {
	all := map[string]wish{}
	root, err := os.OpenRoot(string(s))
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	} else if err != nil {
		return nil, err
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), wishesDir, func(file string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || entry.IsDir() || file == newFile {
			return err
		}
		podFullName := path.Base(file) + "." + path.Base(path.Dir(file))
		wanted, err := readWish(root, file)
		if err != nil {
			glog.Errorf("pod %s stays stopped: %s, which holds what is wanted of it, is damaged: %v; `kubelet14 start %[1]s` starts it",
				podFullName, path.Join(string(s), file), err)
		}
		all[podFullName] = wanted
		return nil
	})
	return all, err
}

// readWish reads a file. What is not the whole text of a wish is a stop by an unknown person since the file was changed.
func readWish(root *os.Root, file string) (wanted wish, err error) {
	info, err := root.Lstat(file)
	if err != nil {
		return wish{Stop: true, By: "somebody"}, err
	}
	unknown := wish{Stop: true, By: "somebody", At: info.ModTime()}
	if !info.Mode().IsRegular() {
		return unknown, fmt.Errorf("it is not a regular file (%v)", info.Mode())
	}
	f, err := root.Open(file)
	if err != nil {
		return unknown, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSize))
	if err = cmp.Or(err, json.Unmarshal(text, &wanted)); err == nil && wanted.At.IsZero() {
		err = errors.New("it has no time")
	}
	if err != nil {
		return unknown, err
	}
	wanted.By = api.Shorten(api.OneLine(wanted.By), maxBy)
	return wanted, nil
}

// write replaces the file of a pod as a whole: after a crash or a loss of power there is the old one or the new one.
func (s store) write(podFullName string, wanted wish) error {
	file, err := pathOf(podFullName)
	if err != nil {
		return err
	}
	text, err := json.Marshal(wanted)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(string(s))
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.MkdirAll(path.Dir(file), 0o700); err != nil {
		return err
	}
	f, err := root.OpenFile(newFile, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return errors.Join(root.Rename(newFile, file), syncDir(root, path.Dir(file)))
}

// remove removes the file of a pod.
func (s store) remove(podFullName string) error {
	file, err := pathOf(podFullName)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(string(s))
	if err != nil {
		return err
	}
	defer root.Close()
	return errors.Join(root.Remove(file), syncDir(root, path.Dir(file)))
}

// syncDir makes a change of a directory outlive a loss of power.
func syncDir(root *os.Root, dir string) error {
	d, err := root.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
