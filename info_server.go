package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/golang/glog"

	"kubelet14/api"
	"kubelet14/api/v1beta1"
	"kubelet14/config"
	"kubelet14/kubelet"
	"kubelet14/kubelet/server"
)

// openServer opens the info server's listener; nil when there is to be none.
func (f *options) openServer(kl *kubelet.Kubelet, sources []config.Source, rootDir string, metrics *server.Metrics) (*server.Server, error) {
	if !f.serves() {
		return nil, nil
	}
	opts := server.Options{
		Kubelet:      kl,
		Sources:      func() []api.SourceStatus { return sourceStatuses(sources) },
		Scheme:       v1beta1.NewScheme(),
		Address:      f.address,
		Port:         f.port,
		Hostnames:    []string{f.hostname},
		TokenFile:    f.tokenPath(rootDir),
		Debugging:    f.enableDebuggingHandlers,
		LogDir:       flag.Lookup("log_dir").Value.String(),
		CAdvisorPort: f.cadvisorPort,
		Version:      version,
		Metrics:      metrics,
	}
	var err error
	if f.tlsCertFile != "" {
		if opts.TLS, err = server.LoadTLS(f.tlsCertFile, f.tlsKeyFile); err != nil {
			return nil, err
		}
	}
	read := server.ReadToken
	if f.tokenFile == "" {
		read = server.MakeToken
	}
	if opts.Token, err = read(opts.TokenFile); err != nil {
		return nil, err
	}
	return server.New(opts)
}

// tokenPath is where the token is, or is to be made.
func (f *options) tokenPath(rootDir string) string {
	return cmp.Or(f.tokenFile, filepath.Join(rootDir, "token"))
}

// serve answers requests until ctx is done. The link with the token is printed only on a terminal, and never logged.
func (f *options) serve(ctx context.Context, infoServer *server.Server) {
	glog.Infof("info server at %s", infoServer.URL())
	if link := infoServer.Link(); link != "" && isTerminal(os.Stdout) {
		fmt.Printf("Look at the pods: %s\n", link)
	}
	if err := infoServer.Serve(ctx); err != nil {
		glog.Errorf("%v; the pods are managed all the same", err)
	}
}

func sourceStatuses(sources []config.Source) []api.SourceStatus {
	var statuses []api.SourceStatus
	for _, source := range sources {
		statuses = append(statuses, source.Status())
	}
	return statuses
}
