package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"kubelet14/config"
	"kubelet14/kubelet"
	"kubelet14/kubelet/client"
	"kubelet14/kubelet/minions"
	"kubelet14/kubelet/options"
)

// reporter returns what writes the status of this host to etcd, which is the last of the sources.
func reporter(f *options.Options, kl *kubelet.Kubelet, all sources, etcd *config.Etcd) *minions.Reporter {
	return &minions.Reporter{
		Host: f.Kubelet.Identity.Hostname, Version: version, Certificates: f.Server.Certificates, Kubelet: kl, Sources: all.statuses,
		Revision: all[len(all)-1].(*config.SourceEtcd).Revision, Etcd: etcd,
	}
}

// printHosts prints the table of all hosts that write their status to etcd. It returns an error if something is wrong with one.
// With -watch it prints the table until a signal.
func printHosts(ctx context.Context, f *options.Options) error {
	etcd, err := config.OpenEtcd(f.EtcdServers, f.EtcdConfig)
	if err != nil {
		return err
	}
	defer etcd.Close()
	status := func(ctx context.Context) (table, tag string, err error) {
		table, err = minions.Table(ctx, etcd)
		return table, "", err
	}
	if f.Watch {
		return client.Watch(ctx, os.Stdout, onTerminal(), 5*time.Second, status)
	}
	table, _, err := status(ctx)
	_, printErr := fmt.Print(table)
	return errors.Join(err, printErr)
}
