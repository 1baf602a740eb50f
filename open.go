package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/golang/glog"

	"kubelet14/api"
	"kubelet14/api/v1"
	"kubelet14/config"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/features"
	"kubelet14/kubelet/options"
	"kubelet14/volume"
)

// sources are the sources of pods that the flags name.
type sources []config.Source

// parser returns what reads the manifests of all of them.
func parser(f *options.Options) config.Parser {
	p := config.Parser{Hostname: f.Kubelet.Identity.Hostname, Scheme: v1.NewScheme(), Rules: f.Rules}
	if f.Gates.Enabled(features.Services) {
		v1.AddServices(p.Scheme, f.Kubelet.PodNetwork != dockertools.BridgeNetwork)
	}
	return p
}

// openSources returns them, and the connection to etcd if it is one of them.
func openSources(f *options.Options) (all sources, etcd *config.Etcd, err error) {
	parser := parser(f)
	parser.Watcher = f.Kubelet.Trace
	if f.Config != "" {
		if _, err := os.Stat(f.Config); errors.Is(err, fs.ErrNotExist) && !f.ConfigWait {
			return nil, nil, fmt.Errorf("-config=%s does not exist: make it, or give -config_wait if it will appear, as a mount does", f.Config)
		}
		all = append(all, config.NewSourceFile(f.Config, f.FileCheckFrequency, parser))
	}
	if f.ManifestURL != "" {
		source, err := config.NewSourceHTTP(f.ManifestURL, f.HTTPCheckFrequency, parser)
		if err != nil {
			return nil, nil, fmt.Errorf("-manifest_url: %w", err)
		}
		all = append(all, source)
	}
	if f.Etcd() {
		if etcd, err = config.OpenEtcd(f.EtcdServers, f.EtcdConfig); err != nil {
			return nil, nil, err
		}
		source := config.NewSourceEtcd(etcd, parser)
		source.Record, source.ReadOnly = filepath.Join(f.Kubelet.Identity.RootDir, "etcd"), f.DryRun
		source.Accept = f.EtcdAccept
		all = append(all, source)
	}
	return all, etcd, nil
}

// statuses returns what each source has read.
func (all sources) statuses() (statuses []api.SourceStatus) {
	for _, source := range all {
		statuses = append(statuses, source.Status())
	}
	return statuses
}

// openRootDir returns the root_dir with its lock; nil with -dry_run, which changes nothing.
func openRootDir(f *options.Options) (*volume.RootDir, error) {
	open := volume.OpenRootDir
	switch {
	case f.DryRun:
		return nil, nil
	case f.Cleanup:
		open = volume.OpenExisting
	}
	dir, err := open(f.RootDir)
	if errors.Is(err, fs.ErrPermission) {
		return nil, fmt.Errorf("%w: give a directory of your own, such as -root_dir=$HOME/kubelet14", err)
	}
	return dir, err
}

// handOver calls end when another kubelet waits for the lock of the root_dir, unless ctx is done before.
func handOver(ctx context.Context, dir *volume.RootDir, end func()) {
	if dir.AwaitContention(ctx) {
		glog.Infof("another kubelet14 waits for the lock of the root_dir: it gets it")
		end()
	}
}

// warnOfGates logs the gates that do nothing with these flags.
func warnOfGates(f *options.Options) {
	for _, gate := range []string{features.Eviction, features.ImageGarbageCollection} {
		if f.Gates.Enabled(gate) && (f.Runonce || f.DryRun) {
			glog.Warningf("-feature_gates=%s does nothing with -runonce and -dry_run, which do not watch memory and disks", gate)
		}
	}
}
