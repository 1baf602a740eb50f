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

var localAddress = regexp.MustCompile(`\S+->`)

// withoutLocalPort leaves out of an error of the network the local end of the
// connection. Its port is another one each time, and the same trouble must have the
// same words.
func withoutLocalPort(err error) error {
	return errors.New(localAddress.ReplaceAllString(err.Error(), ""))
}
