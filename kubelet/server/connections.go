package server

import (
	"crypto/tls"
	"net"
	"net/http"
	"slices"
	"sync"
)

// connections keeps their number down. Beyond the limit each new one ends the one that
// has been without a request for longest: who only holds connections takes them from
// himself, and a client that comes with a request is answered. To let the new one wait,
// which is the usual way, would hand the server to whoever holds all there may be.
//
// What is being answered is not cut off for a new client. So a user of this host can
// still keep others out, by asking much at once and taking none of it, for writeTimeout;
// no one else can, and not through a unix socket.
type connections struct {
	limit int

	mu      sync.Mutex
	open    int
	resting []net.Conn // those without a request, the longest so first
}

// note is told of each change, by http.Server.
func (c *connections) note(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := slices.Index(c.resting, conn); i >= 0 {
		c.resting = slices.Delete(c.resting, i, i+1)
	}
	switch state {
	case http.StateNew:
		c.open++
		c.resting = append(c.resting, conn)
		if c.open > c.limit {
			hangUp(c.resting[0])
			c.resting = slices.Delete(c.resting, 0, 1)
		}
	case http.StateIdle:
		c.resting = append(c.resting, conn)
	case http.StateClosed, http.StateHijacked:
		c.open--
	}
}

// hangUp closes a connection without a word: TLS would say farewell first, and wait for
// a client that does not listen. Who waits for its next request then finds it closed.
func hangUp(conn net.Conn) {
	if secured, ok := conn.(*tls.Conn); ok {
		conn = secured.NetConn()
	}
	conn.Close()
}
