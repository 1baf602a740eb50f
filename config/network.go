package config

import (
	"errors"
	"net"
	"net/url"
	"regexp"

	"github.com/golang/glog"
)

// warnOfPlainHTTP warns of a server on another host that is read without TLS.
func warnOfPlainHTTP(u *url.URL) {
	if ip := net.ParseIP(u.Hostname()); u.Scheme == "http" && u.Hostname() != "localhost" && !ip.IsLoopback() {
		glog.Warningf("pods are read from %s without TLS: anyone on the way to that host can run anything on this one; use https", u.Redacted())
	}
}

var variable = regexp.MustCompile(`\S+->|current time \S+ |stream ID \d+; |LastStreamID=\d+, `)

// stableMessage removes from a network error what differs each time, so that the same
// problem is logged once: local ports, request numbers and the time.
func stableMessage(err error) error {
	return errors.New(variable.ReplaceAllString(err.Error(), ""))
}
