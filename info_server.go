package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/golang/glog"

	"kubelet14/api/v1"
	"kubelet14/kubelet"
	"kubelet14/kubelet/server"
)

// openServer opens the listener of the info server, or returns nil if there is to be none.
func (f *options) openServer(kl *kubelet.Kubelet, all sources, metrics *server.Metrics) (*server.Server, error) {
	if !f.serves() {
		return nil, nil
	}
	opts := f.server
	opts.Kubelet, opts.Sources, opts.Metrics, opts.Trace = kl, all.statuses, metrics, f.kubelet.Trace
	opts.Scheme, opts.Step = v1.NewScheme(), f.kubelet.Step
	opts.Hostname = f.kubelet.Identity.Hostname
	opts.Version = version
	var err error
	if opts.TLS, err = server.LoadTLS(f.tlsCertFile, f.tlsKeyFile); err != nil {
		return nil, err
	}
	token := server.ReadToken
	if f.tokenFile == "" {
		token = server.MakeToken
	}
	if opts.Token, err = token(opts.TokenFile); err != nil {
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

// onTerminal reports whether standard output is a terminal.
func onTerminal() bool {
	info, err := os.Stdout.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// printStatus prints the table of the kubelet that runs with the same flags. It returns an
// error if a pod is not up, or if a source was not read and may have more pods. With
// -watch it prints the table until a signal.
func printStatus(ctx context.Context, f *options) error {
	config, err := server.LoadTLS(f.tlsCertFile, f.tlsKeyFile)
	if err != nil {
		return err
	}
	client, err := server.NewClient(f.server.Address, f.server.Port, config, f.server.TokenFile)
	if err != nil {
		return err
	}
	if f.watch {
		return client.Watch(ctx, os.Stdout, onTerminal())
	}
	table, err := client.Status(ctx)
	if table != "" && client.Link != "" && onTerminal() {
		table += "\nIn a browser: " + client.Link + "\n"
	}
	_, printErr := fmt.Print(table)
	return errors.Join(err, printErr)
}
