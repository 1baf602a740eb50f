package main

import (
	"context"
	"fmt"
	"sync"

	"kubelet14/api"
	"kubelet14/api/v1beta1"
	"kubelet14/api/validation"
	"kubelet14/config"
)

// sources are the sources of pods that the flags name.
type sources []config.Source

// rules are the rules for manifests, for the sources and for PodConfig alike.
func (f *options) rules() validation.Rules {
	return validation.Rules{AllowPrivileged: f.kubelet.AllowPrivileged}
}

func (f *options) sources() (all sources, err error) {
	parser := config.Parser{Hostname: f.kubelet.Identity.Hostname, Scheme: v1beta1.NewScheme(), Rules: f.rules()}
	if f.config != "" {
		all = append(all, config.NewSourceFile(f.config, f.fileCheckFrequency, parser))
	}
	if f.manifestURL != "" {
		source, err := config.NewSourceHTTP(f.manifestURL, f.httpCheckFrequency, parser)
		if err != nil {
			return nil, fmt.Errorf("-manifest_url: %w", err)
		}
		all = append(all, source)
	}
	if f.etcd() {
		etcd, err := config.EtcdConfig(f.etcdServers, f.etcdConfig)
		if err != nil {
			return nil, err
		}
		all = append(all, config.NewSourceEtcd(etcd, parser))
	}
	return all, nil
}

// start runs the sources until ctx is done. PodConfig knows all of them before the first
// one sends pods, so it can tell when all are ready.
func (all sources) start(ctx context.Context, running *sync.WaitGroup, pods *config.PodConfig) {
	channels := make([]chan<- api.PodUpdate, len(all))
	for i, source := range all {
		channels[i] = pods.Channel(ctx, source.Status().Source)
	}
	for i, source := range all {
		running.Go(func() { source.Run(ctx, channels[i]) })
	}
}

// statuses returns what each source has read.
func (all sources) statuses() (statuses []api.SourceStatus) {
	for _, source := range all {
		statuses = append(statuses, source.Status())
	}
	return statuses
}

// errors returns the errors of the sources that cannot be read now, by their names.
func (all sources) errors() map[string]string {
	errs := map[string]string{}
	for _, status := range all.statuses() {
		if !status.FailingSince.IsZero() {
			errs[status.Source] = status.LastError
		}
	}
	return errs
}
