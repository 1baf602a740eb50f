package validation_test

import (
	"strings"
	"testing"

	"kubelet14/api"
	"kubelet14/api/validation"
)

// first breaks the first container of the good manifest.
func first(change func(c *api.Container)) func(m *api.ContainerManifest) {
	return func(m *api.ContainerManifest) { change(&m.Containers[0]) }
}

func TestContainers(t *testing.T) {
	long := strings.Repeat("a", 64)
	checkRows(t, map[string]row{
		"no name":       {first(func(c *api.Container) { c.Name = "" }), []string{"containers[0].name: required value ''"}},
		"long name":     {first(func(c *api.Container) { c.Name = long }), []string{"containers[0].name: invalid value '" + long + "'"}},
		"dotted name":   {first(func(c *api.Container) { c.Name = "a.b.c" }), []string{"containers[0].name: invalid value 'a.b.c'"}},
		"same name":     {func(m *api.ContainerManifest) { m.Containers[1].Name = "main" }, []string{"containers[1].name: duplicate value 'main'"}},
		"reserved name": {first(func(c *api.Container) { c.Name = "net" }), []string{"containers[0].name: forbidden 'net'"}},
		"no image":      {first(func(c *api.Container) { c.Image = "" }), []string{"containers[0].image: required value ''"}},
		"upper case":    {first(func(c *api.Container) { c.Image = "A" }), []string{"containers[0].image: invalid value 'A'"}},
		"blank":         {first(func(c *api.Container) { c.Image = "a b" }), []string{"containers[0].image: invalid value 'a b'"}},
		"image id": {first(func(c *api.Container) { c.Image = strings.Repeat("a", 64) }),
			[]string{"containers[0].image: invalid value '" + long + "'"}},
		"digest":              {first(func(c *api.Container) { c.Image = "a@sha256:" + strings.Repeat("0", 64) }), nil},
		"relative workingDir": {first(func(c *api.Container) { c.WorkingDir = "srv" }), []string{"containers[0].workingDir: invalid value 'srv'"}},
		"relative message":    {first(func(c *api.Container) { c.TerminationMessagePath = "log" }), []string{"containers[0].terminationMessagePath: invalid value 'log'"}},
		"message on the root": {first(func(c *api.Container) { c.TerminationMessagePath = "/a/.." }), []string{"containers[0].terminationMessagePath: invalid value '/a/..'"}},
		"negative memory":     {first(func(c *api.Container) { c.Memory = -1 }), []string{"containers[0].memory: invalid value '-1'"}},
		"too little memory":   {first(func(c *api.Container) { c.Memory = 6<<20 - 1 }), []string{"containers[0].memory: invalid value '6291455'"}},
		"no limit":            {first(func(c *api.Container) { c.Memory, c.CPU = 0, 0 }), nil},
		"all of 256 cores":    {first(func(c *api.Container) { c.CPU = 256_000 }), nil},
		"too much cpu":        {first(func(c *api.Container) { c.CPU = 256_001 }), []string{"containers[0].cpu: invalid value '256001'"}},
		"negative cpu":        {first(func(c *api.Container) { c.CPU = -1 }), []string{"containers[0].cpu: invalid value '-1'"}},
		"pull policy":         {first(func(c *api.Container) { c.ImagePullPolicy = "Always" }), []string{"containers[0].imagePullPolicy: unsupported value 'Always'"}},
		"pull policy's case":  {first(func(c *api.Container) { c.ImagePullPolicy = "pullalways" }), []string{"containers[0].imagePullPolicy: unsupported value 'pullalways'"}},
	})
	m := goodManifest()
	checkErrors(t, validation.Rules{}.ValidateManifest(&m), "containers[0].privileged: forbidden 'true'")
}

func TestEnvironment(t *testing.T) {
	checkRows(t, map[string]row{
		"no name":   {first(func(c *api.Container) { c.Env[1].Name = "" }), []string{"containers[0].env[1].name: required value ''"}},
		"dots":      {first(func(c *api.Container) { c.Env[0].Name = "a.b" }), []string{"containers[0].env[0].name: invalid value '(hidden)'"}},
		"any value": {first(func(c *api.Container) { c.Env[0].Value = "a=b c\n" }), nil},
	})
}

func TestVolumeMounts(t *testing.T) {
	mount := func(name, path string) func(m *api.ContainerManifest) {
		return first(func(c *api.Container) { c.VolumeMounts[1] = api.VolumeMount{Name: name, MountPath: path} })
	}
	const at = "containers[0].volumeMounts[1]."
	checkRows(t, map[string]row{
		"no name":        {mount("", "/b"), []string{at + "name: required value ''"}},
		"unknown volume": {mount("other", "/b"), []string{at + "name: not found 'other'"}},
		"no path":        {mount("host", ""), []string{at + "mountPath: required value ''"}},
		"relative path":  {mount("host", "b"), []string{at + "mountPath: invalid value 'b'"}},
		"colon":          {mount("host", "/b:ro"), []string{at + "mountPath: invalid value '/b:ro'"}},
		"the root":       {mount("host", "/a/.."), []string{at + "mountPath: invalid value '/a/..'"}},
		"the same path":  {mount("host", "/a/"), []string{at + "mountPath: duplicate value '/a/'"}},
		"same volume":    {mount("empty", "/b"), nil},
		"message's path": {mount("empty", "/dev/log/"), []string{at + "mountPath: duplicate value '/dev/log/'"}},
		"default of the message's path": {func(m *api.ContainerManifest) {
			m.Containers[1].VolumeMounts = []api.VolumeMount{{Name: "empty", MountPath: api.DefaultTerminationMessagePath}}
		}, []string{"containers[1].volumeMounts[0].mountPath: duplicate value '/dev/termination-log'"}},
	})
}

func TestPorts(t *testing.T) {
	port := func(p api.Port) func(m *api.ContainerManifest) {
		return first(func(c *api.Container) { c.Ports[2] = p })
	}
	long := strings.Repeat("a", 64)
	const at = "containers[0].ports[2]."
	checkRows(t, map[string]row{
		"long name":          {port(api.Port{Name: long, ContainerPort: 1}), []string{at + "name: invalid value '" + long + "'"}},
		"dotted name":        {port(api.Port{Name: "a.b", ContainerPort: 1}), []string{at + "name: invalid value 'a.b'"}},
		"same name":          {port(api.Port{Name: "http", ContainerPort: 1}), []string{at + "name: duplicate value 'http'"}},
		"no containerPort":   {port(api.Port{}), []string{at + "containerPort: invalid value '0'"}},
		"containerPort":      {port(api.Port{ContainerPort: 65536}), []string{at + "containerPort: invalid value '65536'"}},
		"hostPort":           {port(api.Port{ContainerPort: 1, HostPort: 65536}), []string{at + "hostPort: invalid value '65536'"}},
		"negative":           {port(api.Port{ContainerPort: -1, HostPort: -1}), []string{at + "containerPort: invalid value '-1'", at + "hostPort: invalid value '-1'"}},
		"protocol":           {port(api.Port{ContainerPort: 1, Protocol: "ICMP"}), []string{at + "protocol: unsupported value 'ICMP'"}},
		"protocol's case":    {port(api.Port{ContainerPort: 1, Protocol: "tcp"}), []string{at + "protocol: unsupported value 'tcp'"}},
		"hostIP":             {port(api.Port{ContainerPort: 1, HostIP: "localhost"}), []string{at + "hostIP: invalid value 'localhost'"}},
		"hostIP with a zone": {port(api.Port{ContainerPort: 1, HostIP: "fe80::1%eth0"}), []string{at + "hostIP: invalid value 'fe80::1%eth0'"}},
	})
}

// The good manifest has 8080 of TCP on 127.0.0.1 and 8080 of UDP everywhere.
func TestHostPortsOfAPod(t *testing.T) {
	other := func(p api.Port) func(m *api.ContainerManifest) {
		p.ContainerPort, p.HostPort = 80, 8080
		return func(m *api.ContainerManifest) { m.Containers[1].Ports = []api.Port{p} }
	}
	taken := []string{"containers[1].ports[0].hostPort: duplicate value '8080'"}
	checkRows(t, map[string]row{
		"same address":              {other(api.Port{HostIP: "127.0.0.1", Protocol: "TCP"}), taken},
		"same address otherwise":    {other(api.Port{HostIP: "::ffff:127.0.0.1", Protocol: "TCP"}), taken},
		"every address":             {other(api.Port{}), taken},
		"every IPv4 address":        {other(api.Port{HostIP: "0.0.0.0"}), taken},
		"every IPv6 address":        {other(api.Port{HostIP: "::"}), taken},
		"another address":           {other(api.Port{HostIP: "127.0.0.2"}), nil},
		"UDP, taken everywhere":     {other(api.Port{HostIP: "127.0.0.2", Protocol: "UDP"}), taken},
		"not published, no address": {func(m *api.ContainerManifest) { m.Containers[1].Ports = []api.Port{{ContainerPort: 8080}} }, nil},
	})
}

func TestProbes(t *testing.T) {
	probe := func(p api.LivenessProbe) func(m *api.ContainerManifest) {
		return first(func(c *api.Container) { c.LivenessProbe = &p })
	}
	tcp := func(port api.IntOrString) func(m *api.ContainerManifest) {
		return probe(api.LivenessProbe{TCPSocket: &api.TCPSocketAction{Port: port}})
	}
	const at = "containers[0].livenessProbe"
	checkRows(t, map[string]row{
		"no action":       {probe(api.LivenessProbe{}), []string{at + ": required value ''"}},
		"two actions":     {probe(api.LivenessProbe{Exec: &api.ExecAction{Command: []string{"a"}}, HTTPGet: &api.HTTPGetAction{Port: api.IntOrString{Int: 80}}}), []string{at + ": invalid value 'httpGet, exec'"}},
		"no command":      {probe(api.LivenessProbe{Exec: &api.ExecAction{}}), []string{at + ".exec.command: required value ''"}},
		"no httpGet port": {probe(api.LivenessProbe{HTTPGet: &api.HTTPGetAction{}}), []string{at + ".httpGet.port: required value ''"}},
		"no port":         {tcp(api.IntOrString{}), []string{at + ".tcpSocket.port: required value ''"}},
		"number":          {tcp(api.IntOrString{Int: 80}), nil},
		"big number":      {tcp(api.IntOrString{Int: 65536}), []string{at + ".tcpSocket.port: invalid value '65536'"}},
		"negative number": {tcp(api.IntOrString{Int: -1}), []string{at + ".tcpSocket.port: invalid value '-1'"}},
		"quoted number":   {tcp(api.IntOrString{Str: "80"}), nil},
		"quoted negative": {tcp(api.IntOrString{Str: "-1"}), []string{at + ".tcpSocket.port: invalid value '-1'"}},
		"name":            {tcp(api.IntOrString{Str: "http"}), nil},
		"unknown name":    {tcp(api.IntOrString{Str: "https"}), []string{at + ".tcpSocket.port: not found 'https'"}},
		"endless delay":   {probe(api.LivenessProbe{TCPSocket: &api.TCPSocketAction{Port: api.IntOrString{Int: 80}}, InitialDelaySeconds: 9999999999}), []string{at + ".initialDelaySeconds: invalid value '9999999999'"}},
		"long delay":      {probe(api.LivenessProbe{TCPSocket: &api.TCPSocketAction{Port: api.IntOrString{Int: 80}}, InitialDelaySeconds: 1<<31 - 1}), nil},
		"delay":           {probe(api.LivenessProbe{TCPSocket: &api.TCPSocketAction{Port: api.IntOrString{Int: 80}}, InitialDelaySeconds: -1}), []string{at + ".initialDelaySeconds: invalid value '-1'"}},
	})
}

func TestHooks(t *testing.T) {
	hook := func(h api.Handler) func(m *api.ContainerManifest) {
		return first(func(c *api.Container) { c.Lifecycle = &api.Lifecycle{PreStop: &h} })
	}
	const at = "containers[0].lifecycle.preStop"
	get := &api.HTTPGetAction{Path: "/bye", Port: api.IntOrString{Str: "http"}}
	checkRows(t, map[string]row{
		"no action":    {hook(api.Handler{}), []string{at + ": required value ''"}},
		"two actions":  {hook(api.Handler{Exec: &api.ExecAction{Command: []string{"a"}}, HTTPGet: get}), []string{at + ": invalid value 'exec, httpGet'"}},
		"no command":   {hook(api.Handler{Exec: &api.ExecAction{}}), []string{at + ".exec.command: required value ''"}},
		"no path":      {hook(api.Handler{HTTPGet: &api.HTTPGetAction{}}), []string{at + ".httpGet.path: required value ''"}},
		"port by name": {hook(api.Handler{HTTPGet: get}), nil},
		"unknown port": {hook(api.Handler{HTTPGet: &api.HTTPGetAction{Path: "/", Port: api.IntOrString{Str: "x"}}}), []string{at + ".httpGet.port: not found 'x'"}},
	})
}
