package config

import (
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/golang/glog"

	"kubelet14/api"
)

// problem is something that is wrong with a file, or with the path itself.
type problem struct {
	about string // the file's path, or SourceFile.about
	err   error
}

// report logs what is new in what the last read found, and returns the update
// that says it, or nil when the receiver has been told.
//
// Until the receiver has had an update without an error, a file that is too
// fresh to be read holds the update back: without the file it would say that
// nothing is wanted but what is in it, and the containers of the file's pods
// would go.
func (s *SourceFile) report() *api.PodUpdate {
	problems := s.problems()
	fresh := s.fresh()
	if s.spoken || len(fresh) == 0 {
		s.holdSince = time.Time{}
	} else {
		now := s.now()
		if s.holdSince.IsZero() {
			s.holdSince = now
		}
		if now.Sub(s.holdSince) < maxHold {
			return nil
		}
		problems = append(problems, fresh...)
	}
	s.log(problems)

	update := api.PodUpdate{Op: api.SET}
	for _, f := range s.sortedFiles() {
		update.Pods = append(update.Pods, f.held...)
	}
	var errs []error
	for _, p := range problems {
		errs = append(errs, p.err)
	}
	update.Err = errors.Join(errs...)
	if s.offered != nil && sameText(update.Err, s.offered.Err) && reflect.DeepEqual(update.Pods, s.offered.Pods) {
		return nil
	}
	s.offered = &update
	return &update
}

// sent notes that the receiver has the update.
func (s *SourceFile) sent(update api.PodUpdate) {
	s.spoken = s.spoken || update.Err == nil
	glog.V(4).Infof("File source: sent %d pods, error: %v", len(update.Pods), update.Err)
}

// problems returns all that is wrong, in the order of the files.
func (s *SourceFile) problems() []problem {
	var problems []problem
	if s.pathErr != nil {
		problems = append(problems, problem{s.about(), s.pathErr})
	}
	for _, f := range s.sortedFiles() {
		if f.err != nil {
			problems = append(problems, problem{f.path, f.err})
		}
	}
	return problems
}

// fresh returns a problem for each file that has not been left alone for long
// enough to be read.
func (s *SourceFile) fresh() []problem {
	var problems []problem
	for _, f := range s.sortedFiles() {
		if !f.changedAt.IsZero() {
			problems = append(problems, problem{f.path, fmt.Errorf("read %q: it is written to all the time, and is read once it is left alone for %v", f.path, settleTime)})
		}
	}
	return problems
}

// log logs each problem when it appears or changes, and once more when it is
// mended.
func (s *SourceFile) log(problems []problem) {
	before := s.logged
	s.logged = make(map[string]string, len(problems))
	for _, p := range problems {
		s.logged[p.about] = p.err.Error()
		if before[p.about] == p.err.Error() {
			continue
		}
		switch f := s.files[p.about]; {
		case f == nil:
			glog.Errorf("File source: all pods stay as they were: %v", p.err)
		case len(f.held) == 0:
			glog.Errorf("File source: %s gives no pods: %v", p.about, p.err)
		default:
			glog.Errorf("File source: the pods of %s stay as they were: %v", p.about, p.err)
		}
	}
	for about := range before {
		_, still := s.logged[about]
		if removed := about != s.about() && s.files[about] == nil; !still && !removed {
			glog.Infof("File source: %s is read again", about)
		}
	}
}

// about names the path itself in problems, where in single-file mode the file
// has the same path.
func (s *SourceFile) about() string {
	return "-config " + s.path
}
