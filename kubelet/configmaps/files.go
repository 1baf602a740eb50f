package configmaps

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"time"

	"github.com/golang/glog"

	"kubelet14/api"
	"kubelet14/kubelet/plan"
	"kubelet14/volume"
)

// maxVolumeBytes is the most that the files of one volume may take: items can name a value more than once.
const maxVolumeBytes = api.MaxSourceBytes

// CreateVolume returns a volume of a pod. SetUp makes its files if they come from objects; its error is then a plan.Problem that says
// what is missing.
func (s *Store) CreateVolume(v *api.Volume, pod *plan.Pod) (volume.Interface, error) {
	if !v.Source.HasFiles() {
		return volume.CreateVolume(v, &pod.Pod, s.volumes)
	}
	dir, err := s.volumes.FileVolume(pod.UID, v.Name)
	if err != nil {
		return nil, err
	}
	return &files{dir, s, v, pod}, nil
}

// files is a volume whose files come from objects and from its pod.
type files struct {
	*volume.FileVolume
	store *Store
	of    *api.Volume
	pod   *plan.Pod
}

// String names the volume.
func (f *files) String() string { return f.GetPath() }

// SetUp makes the files.
func (f *files) SetUp() error {
	_, err := f.write()
	f.store.mu.Lock()
	defer f.store.mu.Unlock()
	if name := f.pod.FullName(); f.store.pods[name] != f.pod { // the manifest has changed meanwhile, and its labels may be in a file
		delete(f.store.lookedPods, name)
		f.store.look()
	}
	return err
}

// refresh makes the files as they must be now if the volume exists, and reports whether that changed any.
func (f *files) refresh() (changed bool, err error) {
	f.store.writing.Lock() // SetUp may be making it
	exists := f.Exists()
	f.store.writing.Unlock()
	if !exists {
		return false, nil
	}
	return f.write()
}

// write makes the files as they must be now, and reports whether that changed any.
func (f *files) write() (changed bool, err error) {
	f.store.writing.Lock()
	defer f.store.writing.Unlock()
	want, err := f.store.filesOf(f.pod, f.of)
	if err != nil {
		return false, err
	}
	return f.Write(want)
}

// filesOf returns the files of a volume by their paths.
func (s *Store) filesOf(pod *plan.Pod, v *api.Volume) (map[string]volume.File, error) {
	projections, mode := v.Source.Projections()
	made := making{map[string]volume.File{}, 0, mode}
	for _, p := range projections {
		err := s.project(pod, p, &made)
		if wrong, ok := errors.AsType[plan.Problem](err); ok {
			return nil, problem("volume %q: %s", v.Name, wrong.Message)
		}
	}
	return made.files, made.check(v.Name)
}

// project adds the files of one source. The error is a plan.Problem.
func (s *Store) project(pod *plan.Pod, p api.Projection, made *making) error {
	if p.DownwardAPI != nil {
		for _, item := range p.DownwardAPI.Items {
			value := ""
			if item.ResourceRef != nil {
				value = amount(&pod.Complete, "", item.ResourceRef)
			} else {
				value = pod.Field(item.FieldRef.FieldPath)
			}
			made.add(item.Path, []byte(value), item.Mode, 0o644)
		}
		return nil
	}
	ref, items := p.Ref()
	mode := map[string]api.FileMode{api.KindConfigMap: 0o644, api.KindSecret: 0o600}[ref.Kind]
	o, err := s.find(pod, ref, "")
	if o == nil {
		return err
	}
	if len(items) == 0 {
		for key, value := range o.Data {
			made.add(key, value, nil, mode)
		}
	}
	for _, item := range items {
		value, err := s.value(pod, ref, item.Key)
		if err != nil {
			return err
		}
		if value != nil {
			made.add(item.Path, value, item.Mode, mode)
		}
	}
	return nil
}

// making is the files of a volume that is being made.
type making struct {
	files map[string]volume.File
	size  int
	mode  *api.FileMode // of those that have none of their own; nil: it depends on the source
}

func (m *making) add(file string, value []byte, mode *api.FileMode, last api.FileMode) {
	m.size += len(value) + 4096
	m.files[path.Clean(file)] = volume.File{Data: value, Mode: fs.FileMode(*cmp.Or(mode, m.mode, &last))}
}

// check returns why the files cannot be together.
func (m *making) check(name string) error {
	if m.size > maxVolumeBytes {
		return problem("volume %q: its files need more than %d MiB", name, maxVolumeBytes>>20)
	}
	for file := range m.files {
		for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
			if _, both := m.files[dir]; both {
				return problem("volume %q: %q is a file, and the directory of %q", name, dir, file)
			}
		}
	}
	return nil
}

// retryAfter is the time after which files are made again that could not be made.
const retryAfter = 10 * time.Second

// Run changes the files of volumes that exist when their objects or pods have changed, until ctx is done. Files of an object that
// is missing stay as they are.
func (s *Store) Run(ctx context.Context) {
	var retry <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.changed:
		case <-retry:
		}
		err := s.refresh(ctx)
		if retry = nil; err != nil {
			retry = time.After(retryAfter)
		}
		s.logOnce("change files of volumes", err)
	}
}

// refresh makes the files of all volumes that exist and whose pods or objects have changed since the last refresh.
func (s *Store) refresh(ctx context.Context) error {
	s.mu.Lock()
	pods, objects, podsBefore, objectsBefore := s.pods, s.objects, s.lookedPods, s.lookedObjects
	s.lookedPods, s.lookedObjects = maps.Clone(pods), objects
	s.mu.Unlock()
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(pods)) {
		pod := pods[name]
		for i := range pod.Complete.Volumes {
			v := &pod.Complete.Volumes[i]
			projections, _ := v.Source.Projections()
			same := podsBefore[name] == pod && !slices.ContainsFunc(projections, func(p api.Projection) bool {
				ref, _ := p.Ref()
				of := id{ref.Kind, pod.Namespace, ref.Name}
				return !slices.Equal(objects[of], objectsBefore[of])
			})
			if !v.Source.HasFiles() || same || ctx.Err() != nil {
				continue
			}
			dir, err := s.volumes.FileVolume(pod.UID, v.Name)
			changed := false
			if err == nil {
				changed, err = (&files{dir, s, v, pod}).refresh()
			}
			if _, missing := errors.AsType[plan.Problem](err); !missing { // else the status tells
				errs = append(errs, err)
			}
			if changed {
				glog.Infof("pod %s: the files of volume %q have changed", name, v.Name)
				s.note(name, "", "refreshed", fmt.Sprintf("the files of volume %q have changed", v.Name))
			}
		}
	}
	err := errors.Join(errs...)
	if err != nil { // all are looked at again
		s.mu.Lock()
		s.lookedPods = nil
		s.mu.Unlock()
	}
	return err
}

// Stale returns how a container that runs differs from what its objects say now, given its Variables.Used; nothing if it does not.
func (s *Store) Stale(pod *plan.Pod, c *api.Container, usedBefore string) string {
	vars, _, err := s.fromObjects(pod, c)
	for _, mount := range c.VolumeMounts {
		for i := range pod.Complete.Volumes {
			if v := &pod.Complete.Volumes[i]; v.Name == mount.Name && err == nil {
				_, err = s.filesOf(pod, v)
			}
		}
	}
	switch wrong, _ := errors.AsType[plan.Problem](err); {
	case err != nil:
		return "it runs on with the values of before: " + wrong.Message
	case used(pod, vars) != usedBefore:
		return "a ConfigMap or Secret has changed: it gets the new variables when it is created anew"
	}
	return ""
}
