package configmaps

import (
	"cmp"
	"runtime"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"kubelet14/api"
)

// amount returns the limit or request that a variable or file of a container is, in units of its divisor and rounded up. As upstream, a limit
// that is missing is what this host has, and a request that is missing is the limit.
func amount(m *api.ContainerManifest, container string, ref *api.ResourceRef) string {
	all, name := m.All(), cmp.Or(ref.Container, container)
	c := all[slices.IndexFunc(all, func(c *api.Container) bool { return c.Name == name })]
	var n int64
	switch ref.Resource {
	case "limits.cpu":
		n = cmp.Or(c.CPULimit, int64(runtime.NumCPU())*1000)
	case "limits.memory":
		n = cmp.Or(c.Memory, hostMemory())
	case "requests.cpu": // SetDefaults has filled it in
		n = c.CPU
	case "requests.memory":
		n = cmp.Or(c.MemoryRequest, c.Memory)
	}
	units := api.ResourceUnits[ref.Resource]
	divisor, _ := api.ParseQuantity(cmp.Or(string(ref.Divisor), "0"), units)
	divisor = cmp.Or(divisor, units)
	whole := n / divisor
	if n%divisor > 0 {
		whole++
	}
	return strconv.FormatInt(whole, 10)
}

// hostMemory returns the bytes of memory of this host.
func hostMemory() int64 {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 0
	}
	return int64(info.Totalram) * int64(info.Unit)
}
