package status

import (
	"slices"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/plan"
)

// Snapshot is what a sync saw. It never changes: each sync publishes a new one.
type Snapshot struct {
	Pods     []*Pod // ordered by full name
	Complete bool   // every source was read
	At       time.Time
	Newer    chan struct{} // closed when there is a newer snapshot
}

// Desired returns the desired pods.
func (s *Snapshot) Desired() (pods []*plan.Pod) {
	for _, p := range s.Pods {
		if p.Desired != nil {
			pods = append(pods, p.Desired)
		}
	}
	return pods
}

// Images returns the images of the desired pods.
func (s *Snapshot) Images() (images []string) {
	for _, pod := range s.Desired() {
		for _, c := range pod.Manifest.All() {
			images = append(images, c.Image)
		}
	}
	return images
}

// Pod returns a pod by its full name, or nil.
func (s *Snapshot) Pod(fullName string) *Pod {
	for _, p := range s.Pods {
		if p.Name == fullName {
			return p
		}
	}
	return nil
}

// Container returns a container by its id, or nil.
func (s *Snapshot) Container(id string) *plan.Observed {
	for _, p := range s.Pods {
		for i := range p.Observed {
			if c := &p.Observed[i]; c.ID == id {
				return c
			}
		}
	}
	return nil
}

// Waiting counts the pods that have work to do, and are not busy. Pods that may not be desired are left out.
func (s *Snapshot) Waiting(busy map[string]bool) (n int) {
	for _, p := range s.Pods {
		hasWork := len(p.Plan.Steps) > 0 || slices.ContainsFunc(p.Plan.Problems, func(p plan.Problem) bool { return !p.RetryAt.IsZero() })
		if hasWork && !busy[p.Name] && p.Wait.Reason != api.ReasonSourceNotReady {
			n++
		}
	}
	return n
}
