package main

import (
	"context"
	"embed"
	"fmt"
	"os"
	"time"

	"github.com/golang/glog"

	"kubelet14/api"
	"kubelet14/api/v1"
	"kubelet14/kubelet"
	"kubelet14/kubelet/node"
	"kubelet14/kubelet/options"
	"kubelet14/kubelet/server"
	"kubelet14/kubelet/token"
)

// source is that of the stages of a change, and of their chapters.
//
//go:embed config/*.go kubelet/*.go kubelet/plan/*.go kubelet/execute/*.go docs/*.md
var source embed.FS

// openServer opens the listener of the info server, or returns nil if there is to be none.
func openServer(f *options.Options, kl *kubelet.Kubelet, all sources, house *node.Housekeeper, metrics *server.Metrics) (*server.Server, error) {
	if !f.Serves() {
		return nil, nil
	}
	opts := f.Server
	opts.Kubelet, opts.Sources, opts.Metrics, opts.Trace = kl, all.statuses, metrics, f.Kubelet.Trace
	opts.Scheme, opts.Step = v1.NewScheme(), f.Kubelet.Step
	opts.Source, opts.Hostname = source, f.Kubelet.Identity.Hostname
	opts.Version, opts.Gates, opts.Node = version, f.Gates, house.Status
	var err error
	if opts.TLS, err = server.LoadTLS(f.TLSCertFile, f.TLSKeyFile); err != nil {
		return nil, err
	}
	if opts.TLS != nil {
		f.Server.Certificates = append(f.Server.Certificates, api.Certificate{Name: "info server", NotAfter: opts.TLS.Certificates[0].Leaf.NotAfter})
		opts.Certificates = f.Server.Certificates
	}
	read := token.Read
	if f.TokenFile == "" {
		read = token.Make
	}
	if opts.Token, err = read(opts.TokenFile); err != nil {
		return nil, err
	}
	return server.New(opts)
}

// serve answers requests until ctx is done. The page's link is printed on a terminal only, and never logged.
func serve(ctx context.Context, infoServer *server.Server) {
	glog.Infof("info server at %s", infoServer.URL())
	if link := infoServer.Link(); link != "" && onTerminal() {
		fmt.Printf("Look at the pods: %s\n", link)
	}
	if err := infoServer.Serve(ctx); err != nil {
		glog.Errorf("%v; the kubelet goes on without the info server", err)
	}
}

// warnOfCertificates logs each certificate that will expire soon, once, and once more when it has, until ctx is done.
func warnOfCertificates(ctx context.Context, certificates []api.Certificate) {
	logged := map[string]bool{"": true}
	for {
		for _, c := range certificates {
			if warning := c.Warning(time.Now()); !logged[warning] {
				logged[warning] = true
				glog.Warning(warning)
			}
		}
		select {
		case <-time.After(time.Hour):
		case <-ctx.Done():
			return
		}
	}
}

// onTerminal reports whether standard output is a terminal.
func onTerminal() bool {
	info, err := os.Stdout.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
