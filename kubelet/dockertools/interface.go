package dockertools

import (
	"context"
	"errors"
	"io"
	"time"

	"kubelet14/api"
)

// Interface is all of Docker that the kubelet needs, in the kubelet's words. One
// contract test runs against both who keep it.
//
// Every method may be called by any number of goroutines at once, returns when
// ctx is done, and also has a time limit of its own. An error names the object
// and wraps one of the errors below where one fits; any other error means the
// outcome is not known, and only a list taken later tells. Each that takes the id
// of a container returns ErrNoSuchContainer when it is gone.
type Interface interface {
	// Version asks for what the daemon is. It is also the cheapest sign of life.
	Version(ctx context.Context) (Version, error)

	// ListContainers lists every container, dead ones too, that carries all the
	// given labels; an empty value asks for the label alone. The order is not
	// defined.
	ListContainers(ctx context.Context, labels map[string]string) ([]Container, error)
	// InspectContainer says what the list does not: times, exit code and error.
	InspectContainer(ctx context.Context, id string) (Details, error)

	// CreateContainer makes a container and does not start it. Docker keeps names
	// unique: ErrNameTaken when another container has it. ErrNoSuchImage when the
	// image is not on this Docker.
	CreateContainer(ctx context.Context, spec ContainerSpec) (id string, err error)
	// StartContainer starts a created or ended container; a running one is no
	// error. After an error the container is still there, and Details.Error of it
	// says why. ErrNoSuchContainer can also mean the one whose network it joins.
	StartContainer(ctx context.Context, id string) error
	// StopContainer sends the stop signal, and SIGKILL when grace has passed. A
	// container that is not running is no error.
	StopContainer(ctx context.Context, id string, grace time.Duration) error
	// RemoveContainer removes a container with its anonymous volumes, killing it
	// first when it runs.
	RemoveContainer(ctx context.Context, id string) error

	// InspectImage resolves a reference to an image id, or ErrNoSuchImage.
	InspectImage(ctx context.Context, image string) (id string, err error)
	// ImportImage makes an image named "name:tag" of the files in a tar.
	ImportImage(ctx context.Context, image string, tar io.Reader) error
	// PullImage fetches an image from its registry; without a tag or a digest that
	// is "latest". ErrImageNotFound when the registry has no such image,
	// ErrUnauthorised when it wants other credentials. progress is called by one
	// goroutine at a time, often, and must not block. A pull may take as long as it
	// goes on: its time limit is one on silence.
	PullImage(ctx context.Context, image string, auth Auth, progress func(PullProgress)) error

	// RenameContainer gives a container another name; ErrNameTaken.
	RenameContainer(ctx context.Context, id, name string) error
	// Exec runs a command in a running container, without a shell, writes what it
	// prints to out, and returns its exit code. A command that is not there is one
	// that fails, with Docker's words as its output. ErrNotRunning. ErrExecNotStarted
	// when the command did not run: a busy Docker can delay it until ctx is done.
	//
	// It may take as long as it wants. When ctx is done or out fails it is killed, with
	// what it has started: so nothing is left of a client that has gone, nor of a probe
	// or a hook that hangs. Docker has no request for that, and so a command goes on
	// when the daemon is on another host, when this program may not send it signals,
	// and when it has left its process group.
	Exec(ctx context.Context, id string, command []string, out io.Writer) (exitCode int, err error)
	// Logs calls each for the lines that a container has printed, in Docker's order,
	// and when they are to be followed for those to come, until the container ends;
	// one that does not run has none to come. A log that is followed may be silent for
	// ever. each is called by the caller's own goroutine, and its error ends Logs and
	// is returned as it is. ErrLogNotKept.
	Logs(ctx context.Context, id string, opts LogOptions, each func(LogLine) error) error
	// Stats measures a container. ErrNotRunning.
	Stats(ctx context.Context, id string) (Stats, error)
	// LogDriver names what this Docker does with the output of a container that
	// does not say: json-file, unless it was configured otherwise.
	LogDriver(ctx context.Context) (string, error)

	// WatchEvents calls hint for every container that carries all the given labels,
	// as ListContainers takes them, and was started, ran out of memory, died or was
	// destroyed, until ctx is done (nil) or the stream breaks (an error). It calls
	// hint(Event{}) once the stream stands. Events may come late, twice, out of order
	// or not at all: they are a hint to look again, never a fact. hint is called by one
	// goroutine at a time and must not block.
	WatchEvents(ctx context.Context, labels map[string]string, hint func(Event)) error
}

// The errors the kubelet decides on. Test with errors.Is.
var (
	ErrNoSuchContainer = errors.New("no such container")
	ErrNoSuchImage     = errors.New("no such image")
	ErrNameTaken       = errors.New("the container name is taken")
	ErrImageNotFound   = errors.New("the registry has no such image")
	ErrUnauthorised    = errors.New("the registry refuses these credentials")
	ErrLogNotKept      = errors.New("the log driver of the container keeps nothing to read")
	ErrNotRunning      = errors.New("the container does not run")
	ErrExecNotStarted  = errors.New("the command was not started")
)

// PullProgress is how far a pull has come. Layers that were there already count
// as done, and their bytes as none.
type PullProgress struct {
	Layers, LayersDone int
	Bytes, TotalBytes  int64 // of what is fetched; the total grows as layers are begun
}

// Auth is what a registry is asked with. The zero Auth asks as nobody. Its String
// holds no secret.
type Auth struct {
	Username, Password string
	IdentityToken      string // instead of both, for registries that gave one
	ServerAddress      string // the registry it is for
}

// Version is what the daemon says of itself.
type Version struct {
	Version    string // such as 20.10.24
	APIVersion string // such as 1.41
	OS         string // such as linux
	Arch       string // as Go spells it: amd64, arm64
}

// State of a container, in Docker's words.
type State string

// The states of Docker's list.
const (
	StateCreated    State = "created" // never ran: not started yet, or its start failed
	StateRunning    State = "running"
	StatePaused     State = "paused"
	StateRestarting State = "restarting"
	StateRemoving   State = "removing" // neither live nor dead; its name is still taken
	StateExited     State = "exited"
	StateDead       State = "dead" // ended, and Docker could not remove all of it
)

// Live says that the container has, or is about to have, a process.
func (s State) Live() bool {
	return s == StateRunning || s == StatePaused || s == StateRestarting
}

// Ended says that the container ran and is over.
func (s State) Ended() bool {
	return s == StateExited || s == StateDead
}

// Container is one line of Docker's list.
type Container struct {
	ID      string
	Name    string // without Docker's leading slash; empty when Docker says none
	Image   string
	Labels  map[string]string
	State   State
	Status  string // Docker's words for people: "Exited (1) 3 minutes ago"
	Created time.Time
	// Endpoint changes at each start of a container with a network of its own, and
	// is empty otherwise: it shows a `docker restart` that came between two lists.
	Endpoint string
	Ports    []PublishedPort // only while it runs
}

// PublishedPort is a port of the host that Docker holds for a container.
type PublishedPort struct {
	HostIP        string // empty, 0.0.0.0 or :: mean every address
	HostPort      int
	ContainerPort int
	Protocol      string // lower case: tcp, udp
}

// Details is what an inspect tells.
type Details struct {
	// State is newer than the list's: Docker tells of a death in its events before
	// its list shows it, and an inspect waits until both are done.
	State      State
	StartedAt  time.Time // zero: it never ran
	FinishedAt time.Time // zero: it never ran, or runs for the first time; a moment before StartedAt when it ended at once
	ExitCode   int
	Error      string // why the last start failed; empty when it did not
	OOMKilled  bool
	IP         string // empty when it runs in another container's network
	ImageID    string // the image it was made of, such as sha256:…
}

// ContainerSpec is all that a container is created with.
type ContainerSpec struct {
	Name       string
	Image      string
	Labels     map[string]string
	Entrypoint []string // nil: the image's
	Command    []string // nil: the image's
	Env        []string // NAME=value
	WorkingDir string
	StopSignal string // empty: the image's, else SIGTERM
	Memory     int64  // bytes, 0: no limit
	Log        LogLimit
	CPUShares  int64 // 0: Docker's default
	Privileged bool
	Mounts     []Mount

	// NetworkContainer is the id of the container whose network this one joins; it
	// needs to run at the start, not at the creation. When it is set, Docker
	// refuses a host name and ports.
	NetworkContainer string
	Hostname         string
	Ports            []PublishedPort
}

// LogLimit bounds what Docker keeps of a container's output with the log driver
// json-file. The zero LogLimit leaves the log to the daemon.
type LogLimit struct {
	MaxSize  int64 // bytes of one file
	MaxFiles int
}

// LogOptions says which lines of a log are wanted.
type LogOptions struct {
	Since          time.Time // those of this moment and later; zero: all
	Tail           int       // so many from the end, counted before one stream is left out; -1: all
	Follow         bool      // and those to come
	Stdout, Stderr bool      // one of them, or both
}

// LogLine is what a container has printed on one stream up to the end of a line. One
// of more than 64 KiB comes in parts, of which only the last has an end.
type LogLine struct {
	Time   time.Time // when Docker read it
	Stderr bool
	Text   []byte // with its newline; the callee's to keep
}

// Stats is one measurement of a container.
type Stats struct {
	Time    time.Time
	CPU     api.CPUStats
	Memory  api.MemoryStats
	Network api.NetworkStats // of the network it runs in, which may be that of another container
}

// Mount binds an existing path of the host; a missing one is an error of the
// creation, not a new folder.
type Mount struct {
	HostPath, ContainerPath string
	ReadOnly                bool
}

// Event is a hint that a container has changed.
type Event struct {
	ID          string // of the container
	Name        string // of the container, when Docker tells it
	OutOfMemory bool   // the kernel has killed a process in it, which used too much
}
