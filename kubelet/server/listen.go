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
)

const (
	unixPrefix  = "unix:"
	maxUnixPath = 107 // bytes, by Linux
)

// unix says that the listener is a socket in the file system.
func (s *Server) unix() bool { return strings.HasPrefix(s.opts.Address, unixPrefix) }

// CheckAddress refuses an address that the server may not listen on, such as one that
// other hosts can reach while there is no TLS to keep the token secret.
func CheckAddress(address string, port int, hasTLS bool) error {
	if path, unix := strings.CutPrefix(address, unixPrefix); unix {
		switch {
		case !strings.HasPrefix(path, "/"): // one that begins with @ would be no file, and open to all
			return fmt.Errorf("-address=%s: a socket needs a path from the root, such as unix:/run/kubelet14.sock", address)
		case len(path) > maxUnixPath:
			return fmt.Errorf("-address=%s: the path of a socket has at most %d bytes, and this has %d", address, maxUnixPath, len(path))
		case hasTLS:
			return errors.New("-tls_cert_file and a unix socket exclude each other: nobody can listen in on one")
		}
		return nil
	}
	ip := net.ParseIP(address)
	switch {
	case ip == nil:
		return fmt.Errorf("-address=%s is no IP address: give one, such as 127.0.0.1, or a socket, such as unix:/run/kubelet14.sock", address)
	case !ip.IsLoopback() && !hasTLS:
		return fmt.Errorf("-address=%s can be reached from other hosts, and so could the token: give -tls_cert_file and -tls_private_key_file, or a loopback address", address)
	case port < 0 || port > 65535:
		return fmt.Errorf("-port=%d is no port: give one from 1 to 65535, or 0 for any that is free", port)
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

// listen opens the listener.
func (s *Server) listen() (net.Listener, error) {
	if err := CheckAddress(s.opts.Address, s.opts.Port, s.opts.TLS != nil); err != nil {
		return nil, fmt.Errorf("info server: %w", err)
	}
	if path, unix := strings.CutPrefix(s.opts.Address, unixPrefix); unix {
		return listenUnix(path)
	}
	address := net.JoinHostPort(s.opts.Address, strconv.Itoa(s.opts.Port))
	listener, err := net.Listen("tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("info server: %s is taken by another program, maybe another kubelet: give another -port, or -enable_server=false", address)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, fmt.Errorf("info server: this host has no address %s: give another -address", s.opts.Address)
	case err != nil:
		return nil, fmt.Errorf("info server: %w", err)
	}
	if s.opts.TLS == nil {
		return listener, nil
	}
	s.certificate, err = x509.ParseCertificate(s.opts.TLS.Certificates[0].Certificate[0])
	if err != nil {
		listener.Close()
		return nil, fmt.Errorf("info server: read the certificate: %w", err)
	}
	return tls.NewListener(listener, s.opts.TLS), nil
}

// listenUnix opens a socket that only this user may open. It takes the place of one
// that nobody listens on any more, and of nothing else.
func listenUnix(path string) (net.Listener, error) {
	if info, err := os.Lstat(path); err == nil {
		if info.Mode()&os.ModeSocket == 0 {
			return nil, fmt.Errorf("info server: -address: %s is there and is no socket", path)
		}
		conn, err := net.Dial("unix", path)
		switch {
		case err == nil:
			conn.Close()
			return nil, fmt.Errorf("info server: another program listens on %s, maybe another kubelet: give another -address, or -enable_server=false", path)
		case !errors.Is(err, syscall.ECONNREFUSED):
			return nil, fmt.Errorf("info server: see whether another program listens on %s: %w", path, err)
		}
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("info server: take the place of an old socket: %w", err)
		}
	}
	// Linux makes the file with the mode that the socket has before it is bound, so
	// there is no moment at which others may open it.
	config := net.ListenConfig{Control: func(_, _ string, conn syscall.RawConn) error {
		var chmod error
		err := conn.Control(func(fd uintptr) { chmod = syscall.Fchmod(int(fd), 0o600) })
		return cmp.Or(err, chmod)
	}}
	listener, err := config.Listen(context.Background(), "unix", path)
	if err != nil {
		return nil, fmt.Errorf("info server: listen on %s: %w", path, err)
	}
	return listener, nil
}
