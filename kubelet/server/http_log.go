package server

import (
	"bytes"
	"log"

	"github.com/golang/glog"
)

// httpLog takes what net/http has to say. Most of it is about clients that broke off,
// of which there can be any number.
func httpLog() *log.Logger { return log.New(httpLogWriter{}, "", 0) }

type httpLogWriter struct{}

func (httpLogWriter) Write(line []byte) (int, error) {
	if text := bytes.TrimSpace(line); bytes.HasPrefix(text, []byte("http: panic serving")) {
		glog.Errorf("info server: %s", text)
	} else {
		glog.V(2).Infof("info server: %s", text)
	}
	return len(line), nil
}
