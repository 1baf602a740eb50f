package etcdtest

import (
	"net"
	"strings"
	"sync"
	"testing"
)

// Proxy is a way to a server that the test can block, while it goes on reaching the
// server itself.
type Proxy struct {
	tb      testing.TB
	scheme  string
	address string // of the proxy
	server  string // address of the server
	serving sync.WaitGroup

	mu       sync.Mutex
	change   sync.Cond         // of hanging
	listener net.Listener      // nil while cut
	conns    map[net.Conn]bool // to clients and to the server
	hanging  bool
}

// NewProxy returns a proxy in front of the server. It ends with the test.
func NewProxy(tb testing.TB, s *Server) *Proxy {
	tb.Helper()
	scheme, server, _ := strings.Cut(s.Endpoint(), "://")
	p := &Proxy{tb: tb, scheme: scheme, address: ReserveAddress(tb), server: server, conns: map[net.Conn]bool{}}
	p.change.L = &p.mu
	p.Mend()
	tb.Cleanup(func() {
		p.Cut()
		p.serving.Wait()
	})
	return p
}

// Endpoint returns the proxy's URL.
func (p *Proxy) Endpoint() string { return p.scheme + "://" + p.address }

// Cut closes all connections and refuses new ones.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener != nil {
		p.listener.Close()
		p.listener = nil
	}
	for conn := range p.conns {
		conn.Close()
	}
	p.hanging = false
	p.change.Broadcast()
}

// Hang lets nothing pass, as if a cable were out: connections stay open, and new ones
// are taken.
func (p *Proxy) Hang() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hanging = true
}

// Mend ends Cut and Hang. What Hang has held back arrives now.
func (p *Proxy) Mend() {
	p.tb.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hanging = false
	p.change.Broadcast()
	if p.listener != nil {
		return
	}
	listener, err := net.Listen("tcp", p.address)
	check(p.tb, err)
	p.listener = listener
	p.serving.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return // cut
			}
			p.serving.Go(func() { p.serve(client, listener) })
		}
	})
}

// serve connects a client that came by the listener with the server, until one of
// the two ends it or both are cut off.
func (p *Proxy) serve(client net.Conn, by net.Listener) {
	server, err := net.Dial("tcp", p.server)
	if err != nil {
		client.Close()
		return
	}
	p.mu.Lock()
	if p.listener != by { // cut meanwhile
		client.Close()
		server.Close()
	}
	p.conns[client], p.conns[server] = true, true
	p.mu.Unlock()

	p.serving.Go(func() { p.pass(server, client) })
	p.pass(client, server)
	p.mu.Lock()
	delete(p.conns, client)
	delete(p.conns, server)
	p.mu.Unlock()
}

// pass passes on what from sends, and closes both when there is no more.
func (p *Proxy) pass(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		p.mu.Lock()
		for p.hanging {
			p.change.Wait()
		}
		p.mu.Unlock()
		if _, writeErr := to.Write(buffer[:n]); err != nil || writeErr != nil {
			return
		}
	}
}
