package registrytest

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"time"
)

// fault is what happens in the middle of every blob; the zero fault is nothing.
type fault struct {
	held chan struct{} // closed when a blob has come to its middle
	over chan struct{} // closed when held blobs may go on
	once sync.Once     // closes held
}

// HoldBlobs makes every blob stop in its middle, until MendBlobs: whoever pulls is
// in the middle of it for as long as the test likes.
func (r *Registry) HoldBlobs() {
	r.setFault(&fault{held: make(chan struct{}), over: make(chan struct{})})
}

// AwaitHeld waits, after HoldBlobs, until some blob has come to its middle.
func (r *Registry) AwaitHeld() {
	r.tb.Helper()
	r.mu.Lock()
	held := r.fault.held
	r.mu.Unlock()
	select {
	case <-held:
	case <-time.After(time.Minute):
		r.tb.Fatalf("nobody has asked the registry at %s for a blob within a minute; pulls begun at %v", r.address, r.Pulls())
	}
}

// MendBlobs ends HoldBlobs. What was held goes on.
func (r *Registry) MendBlobs() { r.setFault(&fault{}) }

func (r *Registry) setFault(f *fault) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fault.over != nil {
		close(r.fault.over)
	}
	r.fault = f
}

// serveBlob sends a layer or a configuration in two halves, and has the fault in
// between.
func (r *Registry) serveBlob(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	fault := r.fault
	r.mu.Unlock()
	// After a cut connection Docker asks for the rest with an open range, which the
	// library does not know. A registry is free to send all of it again.
	req.Header.Del("Range")
	whole := httptest.NewRecorder()
	r.images.ServeHTTP(whole, req)
	for name, values := range whole.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(whole.Code)
	body := whole.Body.Bytes()
	middle := len(body) / 2
	w.Write(body[:middle])
	http.NewResponseController(w).Flush()
	fault.strike(req)
	w.Write(body[middle:])
}

// strike returns when the rest of a blob may be sent. When the client has gone it
// may be sent in vain.
func (f *fault) strike(req *http.Request) {
	if f.held == nil {
		return
	}
	f.once.Do(func() { close(f.held) })
	select {
	case <-f.over:
	case <-req.Context().Done():
	}
}
