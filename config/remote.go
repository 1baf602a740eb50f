package config

import (
	"errors"
	"net"
	"net/url"
	"regexp"

	"github.com/golang/glog"
)

// warnOfPlainText warns of a server that anybody on the way to it can pass off as
// another one: what it says runs here, with any directory of the host.
func warnOfPlainText(u *url.URL) {
	if ip := net.ParseIP(u.Hostname()); u.Scheme == "http" && u.Hostname() != "localhost" && !ip.IsLoopback() {
		glog.Warningf("pods are read from %s without TLS: whoever is on the way to that host can run anything on this one; use https", u.Redacted())
	}
}

// withoutURL leaves out of an error of net/http or net/url the URL, which may hold
// a password.
func withoutURL(err error) error {
	if e := (*url.Error)(nil); errors.As(err, &e) {
		return e.Err
	}
	return err
}

var changing = regexp.MustCompile(`\S+->|current time \S+ |stream ID \d+; |LastStreamID=\d+, `)

// inSteadyWords leaves out of an error of the network what is another one each
// time, though the trouble is the same: the local end of a connection, the number
// of a request on it, the time at which a certificate was looked at.
func inSteadyWords(err error) error {
	return errors.New(changing.ReplaceAllString(err.Error(), ""))
}
