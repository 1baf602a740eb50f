package kubelet

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/golang/glog"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/volume"
)

// observer looks at this kubelet's containers: one list for all pods, and an inspect
// for each container that has changed since the last look.
type observer struct {
	docker  dockertools.Interface
	id      dockertools.Identity
	volumes *volume.RootDir

	mu    sync.Mutex
	known map[string]inspected // by container id
	stale map[string]bool      // ids of those to inspect again; "" is all
	notes map[string]*note     // by container id
}

// inspected is what Docker said of a container when its row of the list was like key.
type inspected struct {
	key       string
	details   dockertools.Details
	lastWords string
	hung      error     // there was no answer in time
	retry     time.Time // and it is not asked again before
}

// note is what the kubelet knows of a container and Docker does not.
type note struct {
	startedAt   time.Time // of the life it is about: somebody may start a dead container again
	outOfMemory bool      // an event said so; on a busy host the inspect never does
	killed      trouble   // why the kubelet stopped it, if for a fault of its own
}

func newObserver(docker dockertools.Interface, id dockertools.Identity, volumes *volume.RootDir) *observer {
	return &observer{docker: docker, id: id, volumes: volumes, known: map[string]inspected{}, stale: map[string]bool{}, notes: map[string]*note{}}
}

// inspectLimit keeps a container that Docker cannot tell of from holding up all others.
const inspectLimit = 10 * time.Second

// observation is what there is of one pod.
type observation struct {
	containers []seenContainer
	err        error // some container could not be inspected
}

// list asks Docker for this kubelet's containers, ordered by pod, container and attempt.
func (o *observer) list(ctx context.Context) ([]dockertools.Owned, error) {
	all, err := o.docker.ListContainers(ctx, o.id.Halves())
	if err != nil {
		return nil, err
	}
	var owned []dockertools.Owned
	for _, c := range all {
		if own, ok := o.id.Own(c); ok {
			owned = append(owned, own)
		}
	}
	slices.SortFunc(owned, func(a, b dockertools.Owned) int {
		return cmp.Or(cmp.Compare(a.Of.PodFullName, b.Of.PodFullName), cmp.Compare(a.Of.Name, b.Of.Name),
			cmp.Compare(a.Of.Attempt, b.Of.Attempt), cmp.Compare(b.Name, a.Name))
	})
	return owned, nil
}

// forget makes the next look inspect a container again; "" is all of them.
func (o *observer) forget(id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.stale[id] = true
}

// inspect adds to the containers of a list what only an inspect tells, by pod.
func (o *observer) inspect(ctx context.Context, list []dockertools.Owned) map[string]*observation {
	// A network container that was restarted has a new endpoint, and then all
	// containers of its pod are inspected again.
	endpoints := map[string]string{}
	for i := range list {
		if list[i].Of.Name == api.NetworkContainerName {
			endpoints[list[i].Of.PodFullName] += list[i].Endpoint
		}
	}
	o.mu.Lock()
	stale := o.stale
	o.stale = map[string]bool{}
	o.mu.Unlock()
	found := make([]*seenContainer, len(list))
	errs := make([]error, len(list))
	slots := make(chan struct{}, 16)
	var wg sync.WaitGroup
	for i, own := range list {
		// Docker's words for an end begin with its exit code: "Exited (1) a minute ago".
		end, _, _ := strings.Cut(own.Status, ")")
		if !own.State.Ended() {
			end = ""
		}
		key := string(own.State) + end + endpoints[own.Of.PodFullName]
		o.mu.Lock()
		known, ok := o.known[own.ID]
		o.mu.Unlock()
		if ok && known.key == key && !stale[own.ID] && !stale[""] {
			found[i] = &seenContainer{Owned: own, Details: known.details, LastWords: known.lastWords}
			continue
		}
		if ok && time.Now().Before(known.retry) {
			errs[i] = known.hung
			continue
		}
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			errs[i] = recovered(func() (err error) {
				found[i], err = o.inspectOne(ctx, own, key)
				return err
			})
		})
	}
	wg.Wait()

	o.mu.Lock()
	defer o.mu.Unlock()
	byPod := map[string]*observation{}
	here := map[string]bool{}
	for i, own := range list {
		pod := byPod[own.Of.PodFullName]
		if pod == nil {
			pod = &observation{}
			byPod[own.Of.PodFullName] = pod
		}
		here[own.ID] = true
		switch {
		case errors.Is(errs[i], dockertools.ErrNoSuchContainer): // it vanished since the list
		case errs[i] != nil:
			pod.err = cmp.Or(pod.err, errs[i])
		default:
			o.annotate(found[i])
			pod.containers = append(pod.containers, *found[i])
		}
	}
	for id := range o.known {
		if !here[id] {
			delete(o.known, id)
			delete(o.notes, id)
		}
	}
	return byPod
}

func (o *observer) inspectOne(ctx context.Context, own dockertools.Owned, key string) (*seenContainer, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, inspectLimit, fmt.Errorf("inspect container %q: no answer from Docker within %v", own.Name, inspectLimit))
	defer cancel()
	details, err := o.docker.InspectContainer(ctx, own.ID)
	if ctx.Err() != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.known[own.ID] = inspected{hung: context.Cause(ctx), retry: time.Now().Add(time.Minute)}
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, err
	}
	c := &seenContainer{Owned: own, Details: details}
	o.mu.Lock()
	before := o.known[own.ID]
	o.mu.Unlock()
	switch {
	case !c.State.Ended():
	case c.FinishedAt.Equal(before.details.FinishedAt):
		c.LastWords = before.lastWords
	default:
		c.LastWords = o.lastWords(ctx, c)
	}
	if c.State != own.State {
		key = "" // the list is older, and the next one may contradict this
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.known[own.ID] = inspected{key: key, details: details, lastWords: c.LastWords}
	return c, nil
}

// noteOf is where the kubelet keeps what it knows of a container. The caller holds mu.
func (o *observer) noteOf(id string) *note {
	if o.notes[id] == nil {
		o.notes[id] = &note{}
	}
	return o.notes[id]
}

func (o *observer) noteOutOfMemory(id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.noteOf(id).outOfMemory = true
}

func (o *observer) noteKilled(id string, why trouble) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.noteOf(id).killed = why
}

// annotate adds what the kubelet knows of a container. The caller holds mu.
func (o *observer) annotate(c *seenContainer) {
	n := o.notes[c.ID]
	if n == nil {
		return
	}
	if n.startedAt.IsZero() {
		n.startedAt = c.StartedAt
	}
	if !n.startedAt.Equal(c.StartedAt) {
		delete(o.notes, c.ID)
		return
	}
	const killedBySIGKILL = 128 + 9
	c.OOMKilled = c.OOMKilled || n.outOfMemory && c.State.Ended() && c.ExitCode == killedBySIGKILL
	c.Killed = n.killed
}

// What is kept of a container that has ended: its termination message, else its last
// lines.
const (
	maxLastWords = 4 << 10 // bytes
	maxLogLines  = 10
	maxWordsLine = 120 // bytes of the one line that the kubelet's own log has
)

// terminationFile names the file of an attempt, see volume.RootDir.
func terminationFile(of dockertools.NameParts) string {
	return fmt.Sprintf("%s.%d", of.Name, of.Attempt)
}

// lastWords is the termination message of an ended container, or the end of its log
// when it failed without one.
func (o *observer) lastWords(ctx context.Context, c *seenContainer) string {
	if o.volumes != nil {
		message, err := o.volumes.ReadTerminationFile(c.Of.UID, terminationFile(c.Of), maxLastWords)
		if err != nil {
			glog.Warningf("pod %s: container %q: read its termination message: %v", c.Of.PodFullName, c.Of.Name, err)
		}
		if len(message) > 0 {
			return strings.ToValidUTF8(string(message), "\uFFFD")
		}
	}
	if c.ExitCode == 0 {
		return ""
	}
	var log bytes.Buffer
	err := o.docker.Logs(ctx, c.ID, dockertools.LogOptions{Tail: maxLogLines, Stdout: true, Stderr: true}, func(line dockertools.LogLine) error {
		log.Write(line.Text)
		return nil
	})
	if err != nil {
		glog.V(2).Infof("pod %s: container %q: read its log: %v", c.Of.PodFullName, c.Of.Name, err)
	}
	text := log.Bytes()
	return strings.ToValidUTF8(string(text[max(0, len(text)-maxLastWords):]), "\uFFFD")
}

// lastLine is the last line of a text that is not blank, cut to fit into the log.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	line := text[strings.LastIndexByte(text, '\n')+1:]
	if len(line) > maxWordsLine {
		line = strings.ToValidUTF8(line[:maxWordsLine], "") + "…"
	}
	return line
}
