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
// Every method may be called concurrently, returns when ctx is done, and has a time
// limit of its own. An error names the object and wraps one of the errors below if one
// fits. After any other error the outcome is unknown; a later list shows it. A method
// that takes the id of a container returns ErrNoSuchContainer if there is none.
type Interface interface {
	// Info describes the daemon and its machine.
	Info(ctx context.Context) (Info, error)

	// ListContainers lists the containers that have all the labels, including dead ones,
	// in no particular order. An empty value matches any value.
	ListContainers(ctx context.Context, labels map[string]string) ([]Container, error)
	// ContainerSizes returns, by id, how many bytes each container with all the labels has
	// written to its own file system. This is slow: Docker walks all their directories.
	ContainerSizes(ctx context.Context, labels map[string]string) (map[string]int64, error)
	// InspectContainer returns the details that the list lacks.
	InspectContainer(ctx context.Context, id string) (Inspected, error)

	// CreateContainer creates a container without starting it. It returns ErrNameTaken
	// or ErrNoSuchImage.
	CreateContainer(ctx context.Context, spec ContainerSpec) (id string, err error)
	// StartContainer starts a created or exited container. It is not an error if the
	// container already runs. After an error the container still exists, and
	// Inspected.Error has the reason. If ctx is done meanwhile, Docker may or may not start
	// the container, and it can be started again. ErrNoSuchContainer can also mean the
	// container whose network it joins; ErrNoSuchNetwork means spec.Network.
	StartContainer(ctx context.Context, id string) error
	// StopContainer sends the stop signal, and SIGKILL after grace. It is not an error if
	// the container is not running.
	StopContainer(ctx context.Context, id string, grace time.Duration) error
	// RemoveContainer removes a container and its anonymous volumes. It kills a running
	// container first.
	RemoveContainer(ctx context.Context, id string) error

	// MakeNetwork creates a network in which containers find each other by their names and
	// aliases. It is not an error if a network of this name exists, whoever made it.
	MakeNetwork(ctx context.Context, name string) error
	// RemoveNetwork removes a network that MakeNetwork made. A network that is in use, or
	// that something else made, stays; that is not an error.
	RemoveNetwork(ctx context.Context, name string) error

	// InspectImage returns the id of an image and the user that its programs run as, empty for root, or ErrNoSuchImage.
	InspectImage(ctx context.Context, image string) (id, user string, err error)
	// ImageLayers returns the ids of the layers of an image, lowest first, or ErrNoSuchImage. An image
	// that was built on it starts with the same layers.
	ImageLayers(ctx context.Context, image string) ([]string, error)
	// ListImages lists the images, including those without a name, in no particular order.
	ListImages(ctx context.Context) ([]Image, error)
	// RemoveImage removes a name of an image, and the image with its last name, unless a
	// container, even a dead one, still uses it. It returns ErrNoSuchImage.
	RemoveImage(ctx context.Context, image string) error
	// ImportImage makes an image named "name:tag" from the files in a tar.
	ImportImage(ctx context.Context, image string, tar io.Reader) error
	// PullImage pulls an image, with the tag "latest" if it has neither tag nor digest. It
	// returns ErrImageNotFound or ErrUnauthorised. Its time limit applies between two reports
	// of progress. progress is called often, by one goroutine, and must not block.
	PullImage(ctx context.Context, image string, auth Auth, progress func(PullProgress)) error

	// Exec runs a command in a running container, without a shell, and writes its output to
	// out. A command that does not exist fails, with Docker's message as its output. Exec
	// returns ErrNotRunning, or ErrExecNotStarted if the command did not run: a busy Docker
	// can delay it until ctx is done.
	//
	// A command may take as long as it likes. When ctx is done or out fails, the command and
	// its process group are killed. It keeps running if Docker is on another host, or does
	// not start it within a second.
	Exec(ctx context.Context, id string, command []string, out io.Writer) (exitCode int, err error)
	// ExecWith is Exec for a command with an input, a terminal, or outputs that are kept apart.
	ExecWith(ctx context.Context, id string, command []string, streams api.Streams) (exitCode int, err error)
	// Logs calls each for every line that a container has printed, in Docker's order, and
	// with Follow for new lines until the container ends. It calls each on the caller's
	// goroutine, and returns its error unchanged. It may return ErrLogNotKept.
	Logs(ctx context.Context, id string, opts LogOptions, each func(LogLine) error) error
	// Stats measures a container, or returns ErrNotRunning. Fields that are not measurements stay empty.
	Stats(ctx context.Context, id string) (api.ContainerStats, error)

	// WatchEvents calls hint when a container that has all the labels is started, updated, paused or
	// unpaused, gets a signal, runs out of memory, dies or is destroyed. It returns nil when ctx is
	// done, and an error when the stream breaks. The first call is hint(Event{}), when the stream
	// begins. An event may come late, twice, out of order or not at all. hint is called by one
	// goroutine and must not block.
	WatchEvents(ctx context.Context, labels map[string]string, hint func(Event)) error
	// WatchPulls calls pulled with the name of each image that is pulled from now on, whoever pulls it, even if the
	// image was there already. Otherwise it works like WatchEvents; the first call is pulled("").
	WatchPulls(ctx context.Context, pulled func(image string)) error
}

// The errors that the kubelet distinguishes, for errors.Is.
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

// Info describes a daemon and its machine.
type Info struct {
	Version   string // such as 20.10.24
	OS        string // such as linux
	Arch      string // as Go names it: amd64, arm64
	LogDriver string // of a container whose spec names none, such as json-file
	Name      string // the hostname of its machine
	Kernel    string // such as 6.1.0-25-amd64
	OSImage   string // such as Debian GNU/Linux 12 (bookworm)
	RootDir   string // directory of the images; empty if Docker may run on another machine
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

// Live reports whether the container has a process or is about to get one.
func (s State) Live() bool { return s == StateRunning || s == StatePaused || s == StateRestarting }

// Ended reports whether the container has run and exited.
func (s State) Ended() bool { return s == StateExited || s == StateDead }

// Container is a container in Docker's list.
type Container struct {
	ID        string
	Name      string // without the leading slash; may be empty
	Image     string // as its spec names it
	ImageID   string // such as sha256:…
	Labels    map[string]string
	ListState State  // when the list was made
	Status    string // for display: "Exited (1) 3 minutes ago"
	Created   time.Time
	// Endpoint changes with each start of a container that has its own network, so it
	// reveals a `docker restart` between two lists. It is empty if the container does not
	// run, or is not connected to the network of its LabelNetwork (without the label: to any).
	Endpoint string
	Ports    []api.Port // published on the host while it runs; a HostIP of "", 0.0.0.0 or :: means every address
}

// Inspected is the result of inspecting a container.
type Inspected struct {
	State      State     // after a death, newer than the list's: the event can come first
	CreatedAt  time.Time // more precise than the list's Created
	StartedAt  time.Time // zero: it never ran
	FinishedAt time.Time // its last end, which can be a moment before StartedAt; zero: it never ended
	ExitCode   int
	Error      string // why the last start failed; empty if Docker gave up the first start because the caller went away
	OOMKilled  bool
	// IP is the address in the network that it was created in, or else in any other. In the
	// host's network it is the host's address; in another container's network it is empty.
	IP      string
	ImageID string // such as sha256:…
	// RestartPolicy is Docker's own restart policy, such as always; empty if it never restarts the container.
	RestartPolicy string
}

// Image is an image in Docker's list.
type Image struct {
	ID      string   // such as sha256:…
	Tags    []string // such as busybox:1; see ImageName
	Digests []string // such as busybox@sha256:…; a built or imported image has none, or its id if containerd keeps the images
	Size    int64    // bytes, including layers that it shares with other images
	Created time.Time
}

// ContainerSpec describes a container to create.
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

	Groups          []string // additional GIDs
	NoNewPrivileges bool     // setuid programs give none
	Unconfined      bool     // by seccomp; false: Docker's profile, or this one:
	SeccompFile     string   // a file of the host
	PIDMode         string   // "host", or "container:" and the id of the one whose processes it sees; empty: its own
	IPCMode         string   // "host"; empty: Docker's default
	Init            bool     // its first process is Docker's init, which reaps the others
	Stdin           bool     // is open, and stays empty
	TTY             bool

	// NetworkContainer is the id of the container whose network this one joins. That one
	// must run when this one starts. Docker then refuses Hostname and Ports.
	NetworkContainer string
	Hostname         string
	Ports            []api.Port
	Network          string         // "host", or the name of a network; empty: Docker's default
	Aliases          []string       // additional names, in a network other than Docker's default
	ExtraHosts       []string       // NAME:IP, added to /etc/hosts
	DNS              *api.DNSConfig // for its /etc/resolv.conf; nil: Docker's
}

// CPUShares converts thousandths of a core to Docker's relative shares: 1024 for each core,
// and at least 2, the minimum in Linux. 0 means Docker's default.
func CPUShares(milliCPU int64) int64 {
	if milliCPU == 0 {
		return 0
	}
	return max(milliCPU*1024/1000, 2)
}

// LogLimit limits the files of the log driver json-file. The zero LogLimit leaves the log to
// the daemon.
type LogLimit struct {
	MaxSize  int64 // bytes of one file
	MaxFiles int
}

// Mount binds a path of the host, which must exist when the container is created.
type Mount struct {
	HostPath, ContainerPath string
	ReadOnly                bool
}

// LogOptions selects lines of a log.
type LogOptions struct {
	Since          time.Time // only lines from this time on; zero: all
	Tail           int       // number of lines from the end, counting both streams; -1: all
	Follow         bool
	Stdout, Stderr bool // at least one
}

// LogLine is a line that a container printed. A line of more than 16 KiB, Docker's buffer,
// comes in parts, and only the last ends with a newline.
type LogLine struct {
	Time time.Time // when Docker read it
	Text []byte    // with its newline; the receiver may keep it
}

// Event is a hint that a container has changed.
type Event struct {
	ID          string // of the container
	OutOfMemory bool   // the kernel killed a process in it
	Signalled   bool   // Docker sent it a signal other than SIGKILL, as it does to stop or restart it
}

// PullProgress says how far a pull is. A layer that Docker already has counts as done, with
// 0 bytes.
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
