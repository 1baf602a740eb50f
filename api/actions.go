package api

import (
	"cmp"
	"encoding/json"
	"strconv"
)

// Probe tests a container again and again. Exactly one action is set. A zero number stands for the kubelet's default, which
// for a manifest of 2014 is that of 2014; see SetDefaults for those of v1.
type Probe struct {
	HTTPGet             *HTTPGetAction   `json:"httpGet,omitempty"`
	TCPSocket           *TCPSocketAction `json:"tcpSocket,omitempty"`
	Exec                *ExecAction      `json:"exec,omitempty"`
	InitialDelaySeconds int64            `json:"initialDelaySeconds,omitempty"`

	// Fields that no manifest of 2014 has:
	GRPC             *GRPCAction `json:"grpc,omitempty"`
	TimeoutSeconds   int64       `json:"timeoutSeconds,omitempty"`
	PeriodSeconds    int64       `json:"periodSeconds,omitempty"`
	SuccessThreshold int64       `json:"successThreshold,omitempty"` // good answers in a row that make it good
	FailureThreshold int64       `json:"failureThreshold,omitempty"` // bad answers in a row that make it bad

	_ Unsupported `fields:"terminationGracePeriodSeconds" instead:"that of the spec is for all"`
}

// IntOrString is a port in a probe or a hook: a number, or the name of a port of the container.
type IntOrString struct {
	Int int    // if Str is empty
	Str string // a port name, or a number in quotes
}

func (v IntOrString) String() string {
	if v.Str != "" {
		return v.Str
	}
	return strconv.Itoa(v.Int)
}

func (v IntOrString) MarshalJSON() ([]byte, error) {
	if v.Str != "" {
		return json.Marshal(v.Str)
	}
	return json.Marshal(v.Int)
}

func (v *IntOrString) UnmarshalJSON(data []byte) error {
	if *v = (IntOrString{}); data[0] == '"' {
		return json.Unmarshal(data, &v.Str)
	}
	return json.Unmarshal(data, &v.Int)
}

// HTTPGetAction requests scheme://host:port/path.
type HTTPGetAction struct {
	Path    string       `json:"path,omitempty"`
	Port    IntOrString  `json:"port,omitzero"`
	Host    string       `json:"host,omitempty"`   // empty: the pod's IP
	Scheme  string       `json:"scheme,omitempty"` // HTTPS, or HTTP if empty; a certificate is not verified
	Headers []HTTPHeader `json:"httpHeaders,omitempty"`
}

// HTTPHeader is a header of a request.
type HTTPHeader struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// TCPSocketAction opens a connection to the pod's IP.
type TCPSocketAction struct {
	Port IntOrString `json:"port,omitzero"`

	_ Unsupported `fields:"host" instead:"use httpGet, or exec with a program of the image"`
}

// GRPCAction asks the service grpc.health.v1.Health at the pod's IP, without TLS.
type GRPCAction struct {
	Port    int    `json:"port"`
	Service string `json:"service,omitempty"` // to ask for; empty: the server
}

// ExecAction runs a command in the container, without a shell.
type ExecAction struct {
	Command []string `json:"command,omitempty"`
}

// Lifecycle holds the hooks of a container.
type Lifecycle struct {
	PostStart *Handler `json:"postStart,omitempty"`
	PreStop   *Handler `json:"preStop,omitempty"`

	_ Unsupported `fields:"stopSignal" instead:"set STOPSIGNAL in the image"`
}

// Handler is the action of a hook. Exactly one field is set.
type Handler struct {
	Exec    *ExecAction    `json:"exec,omitempty"`
	HTTPGet *HTTPGetAction `json:"httpGet,omitempty"`

	_ Unsupported `fields:"sleep" instead:"use exec with the command sleep"`
	_ Unsupported `fields:"tcpSocket" instead:"use httpGet or exec"`
}

// ResolvePort returns the port number for a probe or a hook, which gives a number, a number
// in quotes, or the name of a port of the container; validation refuses anything else. In
// 2014 a name meant the host port, on which the pod's IP does not listen.
func ResolvePort(port IntOrString, ports []Port) int {
	for _, p := range ports {
		if p.Name == port.Str && p.Name != "" {
			return p.ContainerPort
		}
	}
	number, _ := strconv.Atoi(port.String())
	return number
}

// Resolve returns a hook whose port is a number, by default 80, so that it can run without the
// manifest. It returns nil for a nil hook.
func (h *Handler) Resolve(ports []Port) *Handler {
	if h == nil || h.HTTPGet == nil {
		return h
	}
	get := *h.HTTPGet
	get.Port = IntOrString{Int: ResolvePort(cmp.Or(get.Port, IntOrString{Int: 80}), ports)}
	return &Handler{HTTPGet: &get}
}
