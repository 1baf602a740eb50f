package dockertools

import (
	"net"
	"os"
	"strings"

	"kubelet14/api"
)

// HostIP returns the address of this host that its default route uses, else 127.0.0.1. It
// sends nothing: to connect a UDP socket only chooses a route.
func HostIP() string {
	for _, remote := range []string{"192.0.2.1:9", "[2001:db8::1]:9"} { // addresses for documentation, that no host has
		if conn, err := net.Dial("udp", remote); err == nil {
			defer conn.Close()
			return conn.LocalAddr().(*net.UDPAddr).IP.String()
		}
	}
	return "127.0.0.1"
}

// HostDNS returns the search domains and options of this host's resolver.
func HostDNS() api.DNSConfig {
	text, _ := os.ReadFile("/etc/resolv.conf") // without one there are none
	return parseResolvConf(string(text))
}

func parseResolvConf(text string) (dns api.DNSConfig) {
	for line := range strings.Lines(text) {
		switch fields := strings.Fields(line); {
		case len(fields) == 0:
		case fields[0] == "search":
			dns.Searches = fields[1:]
		case fields[0] == "options":
			dns.Options = fields[1:]
		}
	}
	return dns
}
