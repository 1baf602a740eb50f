package dockertools

import (
	"context"
	"errors"
	"io"
	"time"

	"kubelet14/api"
)

// Interface is everything the kubelet asks of Docker. One contract test runs against
// client.Client with a real Docker and against dockertest.Fake.
//
// Every method may be called by any number of goroutines, returns when ctx is done,
// and has a time limit of its own. An error names the object and wraps one of the
// errors below where one fits. After any other error the outcome is unknown; a later
// list shows it. A method that takes the id of a container returns ErrNoSuchContainer
// when there is none.
type Interface interface {
	// Info returns what the daemon tells of itself and of its machine.
	Info(ctx context.Context) (Info, error)

	// ListContainers lists the containers, dead ones too, that have all the labels,
	// in no order. An empty value stands for any value.
	ListContainers(ctx context.Context, labels map[string]string) ([]Container, error)
	// ContainerSizes returns how many bytes each container that has all the labels has
	// written to its own file system, by id. Docker reads all of their directories for it.
	ContainerSizes(ctx context.Context, labels map[string]string) (map[string]int64, error)
	// InspectContainer returns what the list does not have.
	InspectContainer(ctx context.Context, id string) (Inspected, error)

	// CreateContainer creates a container without starting it. It returns ErrNameTaken
	// or ErrNoSuchImage.
	CreateContainer(ctx context.Context, spec ContainerSpec) (id string, err error)
	// StartContainer starts a created or exited container; a running one is no error.
	// After an error the container still exists, and Inspected.Error has the reason. If ctx
	// is done meanwhile, Docker starts it or not, and it can be started again.
	// ErrNoSuchContainer can also be about the container whose network it joins, and
	// ErrNoSuchNetwork is about spec.Network.
	StartContainer(ctx context.Context, id string) error
	// StopContainer sends the stop signal, and SIGKILL after grace. A container that
	// does not run is no error.
	StopContainer(ctx context.Context, id string, grace time.Duration) error
	// RemoveContainer removes a container with its anonymous volumes, and kills it
	// first when it runs.
	RemoveContainer(ctx context.Context, id string) error

	// MakeNetwork makes a network in which containers find each other by their names and
	// aliases. If there is one of this name, whoever made it, that is no error.
	MakeNetwork(ctx context.Context, name string) error
	// RemoveNetwork removes a network that MakeNetwork has made. One that a running
	// container uses, or that something else has made, stays, and is no error.
	RemoveNetwork(ctx context.Context, name string) error

	// InspectImage returns the id of an image, or ErrNoSuchImage.
	InspectImage(ctx context.Context, image string) (id string, err error)
	// ImageLayers returns the ids of the layers of an image, the lowest first, or ErrNoSuchImage. Those
	// of an image that was built on it begin with the same.
	ImageLayers(ctx context.Context, image string) ([]string, error)
	// ListImages lists the images, also those that have lost their name, in no order.
	ListImages(ctx context.Context) ([]Image, error)
	// RemoveImage removes a name of an image, and with its last name the image. It is
	// refused then while a container, even a dead one, has the image. It returns ErrNoSuchImage.
	RemoveImage(ctx context.Context, image string) error
	// ImportImage makes an image named "name:tag" of the files in a tar.
	ImportImage(ctx context.Context, image string, tar io.Reader) error
	// PullImage pulls an image; without a tag or a digest, "latest". It returns
	// ErrImageNotFound or ErrUnauthorised. Its time limit is between two reports of the
	// registry. progress is called often, by one goroutine, and must not block.
	PullImage(ctx context.Context, image string, auth Auth, progress func(PullProgress)) error

	// Exec runs a command in a running container, without a shell, and writes what it
	// prints to out. A command that does not exist fails, with Docker's message as its
	// output. It returns ErrNotRunning, and ErrExecNotStarted when the command did not
	// run: a busy Docker can delay it until ctx is done.
	//
	// A command may take as long as it likes. When ctx is done or out fails, it is
	// killed with its process group. It goes on when Docker runs on another host, or
	// does not start it within a second.
	Exec(ctx context.Context, id string, command []string, out io.Writer) (exitCode int, err error)
	// Logs calls each for every line that a container has printed, in Docker's order,
	// and with Follow for those to come until the container ends. It calls each on the
	// caller's goroutine, and returns its error unchanged. It returns ErrLogNotKept.
	Logs(ctx context.Context, id string, opts LogOptions, each func(LogLine) error) error
	// Stats measures a container, or returns ErrNotRunning. What is no measurement is left out.
	Stats(ctx context.Context, id string) (api.ContainerStats, error)

	// WatchEvents calls hint when a container that has all the labels was started, updated, paused
	// or unpaused, was sent a signal, ran out of memory, died or was destroyed. It returns nil when ctx is
	// done, and an error when the stream breaks. Its first call is hint(Event{}): the stream has
	// begun. An event may come late, twice, out of order or not at all. hint is called
	// by one goroutine and must not block.
	WatchEvents(ctx context.Context, labels map[string]string, hint func(Event)) error
	// WatchPulls calls pulled with the name of each image that is pulled from now on, whoever asks for it, also when
	// the image was there. Everything else is as with WatchEvents; its first call is pulled("").
	WatchPulls(ctx context.Context, pulled func(image string)) error
}

// The errors on which the kubelet decides, for errors.Is.
var (
	ErrNoSuchContainer = errors.New("no such container")
	ErrNoSuchImage     = errors.New("no such image")
	ErrNoSuchNetwork   = errors.New("no such network")
	ErrNameTaken       = errors.New("the container name is taken")
	ErrImageNotFound   = errors.New("the registry has no such image")
	ErrUnauthorised    = errors.New("the registry refuses these credentials")
	ErrLogNotKept      = errors.New("the log driver of the container keeps nothing to read")
	ErrNotRunning      = errors.New("the container does not run")
	ErrExecNotStarted  = errors.New("the command was not started")
)

// Info is what a daemon tells of itself and of its machine.
type Info struct {
	Version   string // such as 20.10.24
	OS        string // such as linux
	Arch      string // as Go names it: amd64, arm64
	LogDriver string // of a container whose spec names none, such as json-file
	Name      string // the hostname of its machine
	Kernel    string // such as 6.1.0-25-amd64
	OSImage   string // such as Debian GNU/Linux 12 (bookworm)
	RootDir   string // the directory of the images; empty when Docker may run on another machine
}

// State is the state of a container in Docker's list.
type State string

const (
	StateCreated    State = "created" // never ran: not started yet, or its start failed
	StateRunning    State = "running"
	StatePaused     State = "paused"
	StateRestarting State = "restarting"
	StateRemoving   State = "removing" // its name is still taken
	StateExited     State = "exited"
	StateDead       State = "dead" // exited, and Docker could not remove all of it
)

// Live reports whether the container has a process, or is about to have one.
func (s State) Live() bool { return s == StateRunning || s == StatePaused || s == StateRestarting }

// Ended reports whether the container has run and exited.
func (s State) Ended() bool { return s == StateExited || s == StateDead }

// Container is a container in Docker's list.
type Container struct {
	ID      string
	Name    string // without the leading slash; may be empty
	Image   string // as its spec names it
	ImageID string // such as sha256:…
	Labels  map[string]string
	State   State
	Status  string // for people: "Exited (1) 3 minutes ago"
	Created time.Time
	// Endpoint is different after each start of a container with a network of its own. It
	// shows a `docker restart` between two lists. It is empty when the container does not
	// run, or is not in the network of its LabelNetwork; without the label, in any.
	Endpoint string
	Ports    []api.Port // of the host, while it runs; a HostIP that is empty, 0.0.0.0 or :: is every address
}

// Inspected is what an inspect of a container returns.
type Inspected struct {
	State      State     // newer than the list's after a death: an event can come before the list shows it
	CreatedAt  time.Time // more exact than the list's Created
	StartedAt  time.Time // zero: it never ran
	FinishedAt time.Time // zero: it has never ended; of one that was started again, its last end; can be a moment before StartedAt
	ExitCode   int
	Error      string // why the last start failed; empty if the container was created and Docker gave up its start because the caller went away
	OOMKilled  bool
	// IP is the address in the network of its creation, else in any that it was connected
	// to. In the host's network it is that of the host; in another container's, empty.
	IP      string
	ImageID string // such as sha256:…
	// RestartPolicy is Docker's own, such as always; empty if that starts no container again.
	RestartPolicy string
}

// Image is an image in Docker's list.
type Image struct {
	ID      string   // such as sha256:…
	Tags    []string // such as busybox:1, in whatever form, see ImageName
	Digests []string // such as busybox@sha256:…; of one that was built or imported none, or its id if containerd has the images
	Size    int64    // bytes, layers that it shares with other images included
	Created time.Time
}

// ContainerSpec is what a container is created with.
type ContainerSpec struct {
	Name       string
	Image      string
	Labels     map[string]string
	Entrypoint []string // nil: the image's
	Command    []string // nil: the image's
	Env        []string // NAME=value
	WorkingDir string
	StopSignal string // empty: the image's, else SIGTERM
	Memory     int64  // bytes; 0: no limit
	CPUShares  int64  // 0: Docker's default
	Privileged bool
	Mounts     []Mount
	Log        LogLimit

	User           string // UID or UID:GID; empty: the image's
	CPULimit       int64  // thousandths of a core; 0: no limit
	CapAdd         []string
	CapDrop        []string
	ReadOnlyRootFS bool

	// NetworkContainer is the id of the container whose network this one joins. It must
	// run at the start. Docker then refuses Hostname and Ports.
	NetworkContainer string
	Hostname         string
	Ports            []api.Port
	Network          string         // "host", or the name of a network; empty: Docker's default
	Aliases          []string       // more names in a network that is not Docker's default
	ExtraHosts       []string       // NAME:IP, lines of its /etc/hosts
	DNS              *api.DNSConfig // what its /etc/resolv.conf says; nil: Docker's
}

// CPUShares returns Docker's relative shares for thousandths of a core: 1024 for each core,
// and at least 2, which is the least that Linux takes. 0 is Docker's default.
func CPUShares(milliCPU int64) int64 {
	if milliCPU == 0 {
		return 0
	}
	return max(milliCPU*1024/1000, 2)
}

// LogLimit bounds what the log driver json-file keeps. The zero LogLimit leaves the
// log to the daemon.
type LogLimit struct {
	MaxSize  int64 // bytes of one file
	MaxFiles int
}

// Mount binds a path of the host. It must exist when the container is created.
type Mount struct {
	HostPath, ContainerPath string
	ReadOnly                bool
}

// LogOptions selects lines of a log.
type LogOptions struct {
	Since          time.Time // lines of this time and later; zero: all
	Tail           int       // the number of lines from the end, of both streams; -1: all
	Follow         bool
	Stdout, Stderr bool // at least one
}

// LogLine is a line that a container has printed. A line of more than 16 KiB, Docker's
// buffer, comes in parts, of which only the last ends with a newline.
type LogLine struct {
	Time time.Time // when Docker read it
	Text []byte    // with its newline; the receiver may keep it
}

// Event is a hint that a container has changed.
type Event struct {
	ID          string // of the container
	OutOfMemory bool   // the kernel has killed a process in it
	Signalled   bool   // Docker has sent it a signal, but SIGKILL, as it does to stop or restart it
}

// PullProgress is how far a pull is. A layer that Docker already has counts as done,
// with 0 bytes.
type PullProgress struct {
	Layers, LayersDone int
	Bytes, TotalBytes  int64 // to download; the total grows as layers begin
}

// Auth is the credentials for a registry, which must not be printed. The zero Auth is none.
// Its JSON is that of Docker's API.
type Auth struct {
	Username      string `json:"username,omitempty"`
	Password      string `json:"password,omitempty"`
	IdentityToken string `json:"identitytoken,omitempty"` // instead of both
	ServerAddress string `json:"serveraddress,omitempty"` // the registry
}
