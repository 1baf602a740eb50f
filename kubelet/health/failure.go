package health

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"syscall"
	"time"
)

// failure is an error that the container is to blame for. Any other error says
// nothing about it.
type failure string

func (f failure) Error() string { return string(f) }

// failed blames the container, in words that may be its own.
func failed(words string) error { return failure(readable(words)) }

// ownTrouble is what this host may lack to make a connection. A kubelet that has no
// more files must not kill every container it wanted to ask.
var ownTrouble = []syscall.Errno{
	syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.ENOBUFS, syscall.EADDRNOTAVAIL, syscall.ENETUNREACH,
}

// blame finds out whether the container is to blame for an error of a connection.
func blame(ctx context.Context, err error) error {
	if lookup, ok := errors.AsType[*net.DNSError](err); ok {
		return lookup
	}
	number, _ := errors.AsType[syscall.Errno](err)
	if slices.Contains(ownTrouble, number) {
		return number
	}
	if over := overdue(ctx); over != nil {
		return over
	}
	switch {
	case number != 0:
		return failed(number.Error())
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return failed("no complete answer")
	}
	return failed(err.Error())
}

// overdue says what it means that ctx is done, and nil when it is not. Who took too
// long is to blame; who was not let finish is not.
func overdue(ctx context.Context) error {
	if deadline, ok := ctx.Deadline(); ok && !time.Now().Before(deadline) {
		<-ctx.Done() // a dial keeps the deadline by itself, and can be a moment ahead
	}
	switch cause := context.Cause(ctx); {
	case !errors.Is(ctx.Err(), context.DeadlineExceeded):
		return cause
	case cause == context.DeadlineExceeded:
		return failed("no answer in time")
	default:
		return failed(cause.Error())
	}
}
