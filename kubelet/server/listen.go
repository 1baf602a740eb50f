package server

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/net/netutil"
)

const unixPrefix = "unix:"

// unix reports whether the listener is a unix socket.
func (s *Server) unix() bool { return strings.HasPrefix(s.opts.Address, unixPrefix) }

// CheckAddress returns an error for an address that the server must not listen on, such as one that other hosts can reach
// while there is no TLS.
func CheckAddress(address string, port int, hasTLS bool) error {
	path, unix := strings.CutPrefix(address, unixPrefix)
	ip := net.ParseIP(address)
	switch {
	case unix && !strings.HasPrefix(path, "/"): // a name that begins with @ would be open to every user
		return fmt.Errorf("-address=%s: a socket needs an absolute path, such as unix:/run/kubelet14.sock", address)
	case unix && hasTLS:
		return errors.New("-tls_cert_file and a unix socket cannot be combined: a socket needs no encryption")
	case unix:
		return nil
	case ip == nil:
		return fmt.Errorf("-address=%s is not an IP address: give one, such as 127.0.0.1, or a socket, such as unix:/run/kubelet14.sock", address)
	case !ip.IsLoopback() && !hasTLS:
		return fmt.Errorf("-address=%s can be reached from other hosts, and the token could be read on the way: "+
			"give -tls_cert_file and -tls_private_key_file, or a loopback address", address)
	case port < 0 || port > 65535:
		return fmt.Errorf("-port=%d is not a port: give one from 1 to 65535, or 0 for a free one", port)
	}
	return nil
}

// LoadTLS reads a certificate and its key. Without a certFile it returns nil, for no TLS.
func LoadTLS(certFile, keyFile string) (*tls.Config, error) {
	if certFile == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return nil, fmt.Errorf("read -tls_cert_file=%s and -tls_private_key_file=%s: %w", certFile, keyFile, err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

// listen opens the listener. TLS is outermost, since net/http limits the time of a handshake only there.
func (s *Server) listen() (net.Listener, error) {
	if err := CheckAddress(s.opts.Address, s.opts.Port, s.opts.TLS != nil); err != nil {
		return nil, fmt.Errorf("info server: %w", err)
	}
	var listener net.Listener
	var err error
	address, unix := strings.CutPrefix(s.opts.Address, unixPrefix)
	if unix {
		listener, err = listenUnix(address)
	} else {
		address = net.JoinHostPort(address, strconv.Itoa(s.opts.Port))
		listener, err = net.Listen("tcp", address)
	}
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("info server: %s is taken, maybe by another kubelet: "+
			"give another -address or -port, or -enable_server=false", address)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, fmt.Errorf("info server: this host has no address %s: give another -address", s.opts.Address)
	case err != nil:
		return nil, fmt.Errorf("info server: %w", err)
	}
	listener = netutil.LimitListener(listener, maxConnections)
	if s.opts.TLS == nil {
		return listener, nil
	}
	s.certificate = s.opts.TLS.Certificates[0].Leaf
	return tls.NewListener(listener, s.opts.TLS), nil
}

// listenUnix opens a socket that only this user may open. It replaces a socket that a killed kubelet has left.
func listenUnix(path string) (net.Listener, error) {
	conn, err := net.Dial("unix", path)
	if err == nil {
		conn.Close()
		return nil, fmt.Errorf("another program listens on %s, maybe another kubelet: give another -address, or -enable_server=false", path)
	}
	if info, statErr := os.Lstat(path); statErr == nil && info.Mode()&os.ModeSocket != 0 && errors.Is(err, syscall.ECONNREFUSED) {
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	// Linux creates the file with the mode that the socket has before bind, so other users can never open it.
	config := net.ListenConfig{Control: func(_, _ string, conn syscall.RawConn) error {
		var chmod error
		err := conn.Control(func(fd uintptr) { chmod = syscall.Fchmod(int(fd), 0o600) })
		return cmp.Or(err, chmod)
	}}
	return config.Listen(context.Background(), "unix", path)
}

// URL returns the server's address for users.
func (s *Server) URL() string {
	scheme := "http"
	switch {
	case s.unix():
		return s.opts.Address
	case s.opts.TLS != nil:
		scheme = "https"
	}
	address := s.listener.Addr().(*net.TCPAddr)
	if address.IP.IsUnspecified() {
		return fmt.Sprintf("%s://%s:%d/", scheme, s.opts.Hostname, address.Port)
	}
	return fmt.Sprintf("%s://%s/", scheme, address)
}

// Link returns the page's address with the key, which lets a browser read logs. It is empty on a unix socket.
func (s *Server) Link() string {
	if s.unix() {
		return ""
	}
	return s.URL() + "?key=" + s.key
}
