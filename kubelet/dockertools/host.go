package dockertools

import "net"

// HostIP returns this host's address on its default route, or else 127.0.0.1. It sends
// nothing: connecting a UDP socket only chooses a route.
func HostIP() string {
	for _, remote := range []string{"192.0.2.1:9", "[2001:db8::1]:9"} { // reserved for documentation, so no host has them
		if conn, err := net.Dial("udp", remote); err == nil {
			defer conn.Close()
			return conn.LocalAddr().(*net.UDPAddr).IP.String()
		}
	}
	return "127.0.0.1"
}
