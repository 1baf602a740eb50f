package server

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/node"
)

// node returns this node as a v1 Node, as far as its kubelet knows it.
func (s *Server) node(*http.Request) (any, error) {
	n := s.opts.Node()
	addresses, capacity := []object{{"type": "Hostname", "address": s.opts.Hostname}}, object{}
	if n.OnHost() {
		addresses = append([]object{{"type": "InternalIP", "address": dockertools.HostIP()}}, addresses...)
	}
	if n.Cores > 0 {
		capacity["cpu"] = fmt.Sprint(n.Cores)
	}
	for name, amount := range map[string]node.Amount{"memory": n.Memory, "ephemeral-storage": n.NodeFS} {
		if amount.Total > 0 { // known
			capacity[name] = fmt.Sprintf("%dKi", amount.Total>>10)
		}
	}
	status := object{
		"addresses": addresses, "capacity": capacity,
		"nodeInfo": object{
			"machineID": n.MachineID, "bootID": n.BootID, "systemUUID": "", "kernelVersion": n.Docker.Kernel, "osImage": n.Docker.OSImage,
			"operatingSystem": n.Docker.OS, "architecture": n.Docker.Arch, "containerRuntimeVersion": "docker://" + n.Docker.Version,
			"kubeletVersion": s.opts.Version, "kubeProxyVersion": "",
		},
		"conditions": n.Conditions,
	}
	if address, ok := s.listener.Addr().(*net.TCPAddr); ok {
		status["daemonEndpoints"] = object{"kubeletEndpoint": object{"Port": address.Port}}
	}
	return object{"kind": "Node", "apiVersion": "v1", "metadata": object{"name": s.opts.Hostname}, "status": status}, nil
}

// describeNode returns the pressures of a node as one line.
func describeNode(hostname string, n node.Status) string {
	var pressures []string
	for _, c := range n.Conditions {
		if c.Pressure() {
			pressures = append(pressures, fmt.Sprintf("%s since %s: %s", c.Type, c.Since.Format(time.TimeOnly), c.Message))
		} else if c.Status == "Unknown" {
			pressures = append(pressures, c.Type+" is not known")
		}
	}
	if pressures == nil {
		pressures = []string{"no pressure"}
	}
	return fmt.Sprintf("node %s: %s", hostname, strings.Join(pressures, "; "))
}

// Pressure says what runs short; empty when nothing does.
func (p *page) Pressure() string {
	n := p.Node()
	if slices.ContainsFunc(n.Conditions, node.Condition.Pressure) {
		return describeNode(p.Hostname, n)
	}
	return ""
}
