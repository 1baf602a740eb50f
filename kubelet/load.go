package kubelet

import "kubelet14/api"

// Pods gives the pods that are wanted, by full name; none before the first sync. The
// caller must not change what they hold. It may be called at any time by any
// goroutine.
func (kl *Kubelet) Pods() []api.Pod {
	pods := kl.reported.Load()
	if pods == nil {
		return nil
	}
	var wanted []api.Pod
	for _, pod := range *pods {
		if pod.want != nil {
			wanted = append(wanted, pod.want.Pod)
		}
	}
	return wanted
}

// Load says how much there is to do. It may be called at any time by any goroutine.
func (kl *Kubelet) Load() api.Load {
	var load api.Load
	load.Pulls, load.Queued = kl.images.load()
	if kl.reported.Load() != nil { // the workers are set before the first report, and stay
		load.Workers, load.Waiting = kl.podWorkers.load()
	}
	return load
}

// load counts the workers, and those of them with a request that has not begun.
func (p *podWorkers) load() (workers, waiting int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.workers {
		if w.pending != nil {
			waiting++
		}
	}
	return len(p.workers), waiting
}

// load counts the pulls that are on their way, and those of them that wait for their
// turn.
func (im *images) load() (pulls, queued int) {
	im.mu.Lock()
	defer im.mu.Unlock()
	for _, p := range im.pulls {
		if !p.running {
			continue
		}
		pulls++
		if p.queued {
			queued++
		}
	}
	return pulls, queued
}
