package server

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/net/netutil"
)

const (
	unixPrefix  = "unix:"
	maxUnixPath = 107 // bytes, on Linux
)

// unix reports whether the listener is a unix socket.
func (s *Server) unix() bool { return strings.HasPrefix(s.opts.Address, unixPrefix) }

// CheckAddress returns an error for an address that the server must not listen on, such as one that other hosts can
// reach while there is no TLS that keeps the token secret.
func CheckAddress(address string, port int, hasTLS bool) error {
	if path, unix := strings.CutPrefix(address, unixPrefix); unix {
		switch {
		case !strings.HasPrefix(path, "/"): // a name that begins with @ would be open to every user
			return fmt.Errorf("-address=%s: a socket needs an absolute path, such as unix:/run/kubelet14.sock", address)
		case len(path) > maxUnixPath:
			return fmt.Errorf("-address=%s: the path of a socket has at most %d bytes, and this has %d", address, maxUnixPath, len(path))
		case hasTLS:
			return errors.New("-tls_cert_file and a unix socket exclude each other: a socket needs no encryption")
		}
		return nil
	}
	ip := net.ParseIP(address)
	switch {
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

// LoadTLS reads a certificate and its key.
func LoadTLS(certFile, keyFile string) (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return nil, fmt.Errorf("read -tls_cert_file=%s and -tls_private_key_file=%s: %w", certFile, keyFile, err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

// listen opens the listener. TLS is outermost, since net/http limits the time of a handshake only there.
func (s *Server) listen() (net.Listener, error) {
	err := CheckAddress(s.opts.Address, s.opts.Port, s.opts.TLS != nil)
	if err == nil && s.opts.TLS != nil {
		s.certificate, err = x509.ParseCertificate(s.opts.TLS.Certificates[0].Certificate[0])
	}
	if err != nil {
		return nil, fmt.Errorf("info server: %w", err)
	}
	open := s.listenTCP
	if s.unix() {
		open = s.listenUnix
	}
	listener, err := open()
	if err != nil {
		return nil, fmt.Errorf("info server: %w", err)
	}
	listener = netutil.LimitListener(listener, maxConnections)
	if s.opts.TLS != nil {
		listener = tls.NewListener(listener, s.opts.TLS)
	}
	return listener, nil
}

func (s *Server) listenTCP() (net.Listener, error) {
	address := net.JoinHostPort(s.opts.Address, strconv.Itoa(s.opts.Port))
	listener, err := net.Listen("tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s is taken by another program, maybe another kubelet: give another -port, or -enable_server=false", address)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, fmt.Errorf("this host has no address %s: give another -address", s.opts.Address)
	}
	return listener, err
}

// listenUnix opens a socket that only this user may open. It replaces a socket that no process listens on, and nothing else.
func (s *Server) listenUnix() (net.Listener, error) {
	path := strings.TrimPrefix(s.opts.Address, unixPrefix)
	if info, err := os.Lstat(path); err == nil {
		if info.Mode()&os.ModeSocket == 0 {
			return nil, fmt.Errorf("-address: %s exists and is not a socket", path)
		}
		conn, err := net.Dial("unix", path)
		switch {
		case err == nil:
			conn.Close()
			return nil, fmt.Errorf("another program listens on %s, maybe another kubelet: give another -address, or -enable_server=false", path)
		case !errors.Is(err, syscall.ECONNREFUSED):
			return nil, fmt.Errorf("find out whether another program listens on %s: %w", path, err)
		}
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("replace an old socket: %w", err)
		}
	}
	// Linux creates the file with the mode that the socket has before bind, so other users can never open it.
	config := net.ListenConfig{Control: func(_, _ string, conn syscall.RawConn) error {
		var chmod error
		err := conn.Control(func(fd uintptr) { chmod = syscall.Fchmod(int(fd), 0o600) })
		return cmp.Or(err, chmod)
	}}
	listener, err := config.Listen(context.Background(), "unix", path)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	return listener, nil
}
