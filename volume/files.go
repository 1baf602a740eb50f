package volume

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// The directory of a volume whose files the kubelet makes has, as upstream,
//
//	..v1XKQ…        the files of one version
//	..data          a link to that; a rename of it changes all files at once
//	app.conf        a link to ..data/app.conf, for each name at the top
//
// and no file of it ever changes. A process in a container that has opened a file goes on reading the old one.
const (
	fileVolumes   = "volumes/kubernetes.io~projected" // in the directory of a pod; its mode is 0700
	currentLink   = "..data"
	newLink       = "..data.new"
	versionPrefix = "..v"
)

// File is a file that the kubelet makes.
type File struct {
	Data []byte
	Mode fs.FileMode // its permissions
}

// FileVolume is a directory with files that the kubelet makes, all by one rename. Its methods must not be called concurrently for
// one volume.
type FileVolume struct {
	rel  string // its path in root_dir
	root *RootDir
}

// FileVolume returns the volume of this name of a pod. It does not touch the disk.
func (r *RootDir) FileVolume(podUID, name string) (*FileVolume, error) {
	if err := errors.Join(checkName("volume name", name), checkName("uid", podUID)); err != nil {
		return nil, fmt.Errorf("create volume %q of uid %q: %w", name, podUID, err)
	}
	return &FileVolume{filepath.Join(podsDir, podUID, fileVolumes, name), r}, nil
}

// GetPath returns the absolute path of the directory on the host.
func (v *FileVolume) GetPath() string { return v.root.abs(v.rel) }

// Exists reports whether the volume was written before, and its pod is not in the trash.
func (v *FileVolume) Exists() bool {
	_, err := v.root.dir.Lstat(filepath.Join(v.rel, currentLink))
	return err == nil
}

// Write makes the files, by their relative paths, the only ones of the volume, and reports whether that changed any. If the process
// is killed at any moment, the volume has all files of before or all of these; the next Write removes what is left over.
func (v *FileVolume) Write(files map[string]File) (changed bool, err error) {
	current, _ := v.root.dir.Readlink(filepath.Join(v.rel, currentLink))
	if !v.has(current, files) {
		if current, err = v.writeVersion(files); err != nil {
			return false, fmt.Errorf("write the files of %q: %w", v.GetPath(), err)
		}
		changed = true
	}
	return changed, v.link(current, files)
}

// has reports whether a version has exactly these files.
func (v *FileVolume) has(version string, files map[string]File) bool {
	if !strings.HasPrefix(version, versionPrefix) || strings.Contains(version, "/") {
		return false
	}
	n := 0
	dir := filepath.Join(v.rel, version)
	err := fs.WalkDir(v.root.dir.FS(), dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, name)
		want, known := files[rel]
		info, err := entry.Info()
		if err != nil || !known || info.Mode() != want.Mode || info.Size() != int64(len(want.Data)) {
			return fs.ErrInvalid
		}
		data, err := v.root.dir.ReadFile(name)
		if err != nil || !bytes.Equal(data, want.Data) {
			return fs.ErrInvalid
		}
		n++
		return nil
	})
	return err == nil && n == len(files)
}

// writeVersion writes a new version, and makes it the current one.
func (v *FileVolume) writeVersion(files map[string]File) (version string, err error) {
	dir := v.root.dir
	if err := v.root.mkdirAll(filepath.Dir(v.rel)); err != nil {
		return "", err
	}
	version = versionPrefix + rand.Text()
	errs := []error{dir.Chmod(filepath.Dir(v.rel), 0o700)}
	for _, rel := range []string{v.rel, filepath.Join(v.rel, version)} {
		_, err := v.root.mkdir(rel, 0o755)
		errs = append(errs, err, dir.Chmod(rel, 0o755)) // the umask does not apply to Chmod
	}
	for name, file := range files {
		errs = append(errs, v.writeFile(filepath.Join(v.rel, version), name, file))
	}
	if err := errors.Join(errs...); err != nil {
		return "", errors.Join(err, dir.RemoveAll(filepath.Join(v.rel, version)))
	}
	link := filepath.Join(v.rel, newLink)
	return version, errors.Join(dir.RemoveAll(link), dir.Symlink(version, link), dir.Rename(link, filepath.Join(v.rel, currentLink)))
}

// writeFile writes one file, which does not exist yet, and the directories above it.
func (v *FileVolume) writeFile(version, name string, file File) error {
	if !fs.ValidPath(name) || name == "." || strings.HasPrefix(name, "..") {
		return fmt.Errorf("the path %q: %w", name, fs.ErrInvalid) // validation checks it too
	}
	for level := range levels(name) {
		if level == name {
			break
		}
		_, err := v.root.mkdir(filepath.Join(version, level), 0o755)
		if err = errors.Join(err, v.root.dir.Chmod(filepath.Join(version, level), 0o755)); err != nil {
			return err
		}
	}
	f, err := v.root.dir.OpenFile(filepath.Join(version, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(file.Data)
	return errors.Join(err, f.Chmod(file.Mode), f.Close())
}

// link makes the links at the top, and removes everything else.
func (v *FileVolume) link(current string, files map[string]File) error {
	dir, top := v.root.dir, map[string]bool{currentLink: true, current: true}
	var errs []error
	for name := range files {
		name, _, _ = strings.Cut(name, "/")
		if target := path.Join(currentLink, name); !top[name] {
			if is, _ := dir.Readlink(filepath.Join(v.rel, name)); is != target {
				errs = append(errs, dir.RemoveAll(filepath.Join(v.rel, name)), dir.Symlink(target, filepath.Join(v.rel, name)))
			}
		}
		top[name] = true
	}
	entries, err := v.root.readDir(v.rel)
	errs = append(errs, err)
	for _, entry := range entries {
		if !top[entry.Name()] {
			errs = append(errs, dir.RemoveAll(filepath.Join(v.rel, entry.Name())))
		}
	}
	return errors.Join(errs...)
}
