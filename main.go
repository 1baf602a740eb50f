// Kubelet14 is the kubelet of October 2014 (Kubernetes v0.4), written anew: it
// reads pod manifests from a directory, a URL and etcd, and keeps their containers
// running on Docker.
//
//	kubelet14 -config=manifests/              run, until it is told to stop
//	kubelet14 -config=manifests/ -runonce     start the pods, print a table, exit
//	kubelet14 -config=manifests/ -dry_run     print what it would do, and why
//	kubelet14 -status                         ask the one that runs
//	kubelet14 -cleanup                        remove all it has made
//
// This package has flags, wiring, signals and exit codes, and no logic. The way of a
// pod is
//
//	config.Source ─▶ config.PodConfig ─▶ kubelet.Kubelet ─▶ Docker
//
// and docs/ follows it step by step.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/golang/glog"

	"kubelet14/api"
	"kubelet14/api/v1beta1"
	"kubelet14/config"
	"kubelet14/kubelet"
	"kubelet14/kubelet/dockertools"
	dockerclient "kubelet14/kubelet/dockertools/client"
	"kubelet14/kubelet/server"
	"kubelet14/volume"
)

// version is what -version prints; a release sets it with -ldflags -X.
var version = "v0.4-14-dev"

func main() {
	flags, err := parseFlags(os.Args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(0)
	case err != nil:
		fmt.Fprintf(os.Stderr, "kubelet14: %v\nkubelet14 -h lists the flags\n", err)
		os.Exit(2)
	case flags.version:
		fmt.Println("kubelet14", version)
		os.Exit(0)
	}
	err = run(flags)
	if err != nil {
		glog.Error(err)
	}
	glog.Flush()
	if err != nil {
		os.Exit(1)
	}
}

// run is the program once its flags are right.
func run(f *options) error {
	ctx, stop := untilSignal()
	defer stop()
	if f.status {
		return printStatus(ctx, f)
	}

	docker, err := dockerclient.New(f.dockerEndpoint)
	if err != nil {
		return err
	}
	rootDir, err := volume.AbsRootDir(f.rootDir)
	if err != nil {
		return err
	}
	metrics := server.NewMetrics()
	docker.Observe = metrics.DockerCall
	var sources []config.Source
	opts := kubelet.Options{
		Identity:              dockertools.Identity{Hostname: f.hostname, RootDir: rootDir},
		Docker:                docker,
		NetworkContainerImage: f.networkContainerImage,
		AllowPrivileged:       f.allowPrivileged,
		SyncFrequency:         f.syncFrequency,
		MaxRestartBackoff:     f.maxRestartBackoff,
		MaxDeadContainers:     f.maxDeadContainers,
		MinContainerTTL:       f.minContainerTTL,
		Credentials:           dockerclient.NewKeyring("", filepath.Join(rootDir, ".dockercfg")).Lookup,
		RegistryQPS:           f.registryQPS,
		RegistryBurst:         f.registryBurst,
		ContainerLog:          f.containerLog(),
		SourceErrors:          func() map[string]string { return sourceErrors(sources) },
		SyncDone:              metrics.SyncDone,
		PullDone:              metrics.PullDone,
	}
	if !f.dryRun {
		volumes, err := volume.OpenRootDir(f.rootDir)
		if err != nil {
			return err
		}
		defer volumes.Close()
		opts.Volumes = volumes
		opts.Identity.RootDir = volumes.Path()
	}
	kl := kubelet.NewMainKubelet(opts)
	if f.cleanup {
		return kl.Cleanup(ctx)
	}

	sources, err = f.sources()
	if err != nil {
		return err
	}
	infoServer, err := f.openServer(kl, sources, rootDir, metrics)
	if err != nil {
		return err
	}
	pods := config.NewPodConfig(config.PodConfigNotificationSnapshotAndUpdates, f.rules())
	ctx, end := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer func() {
		end()
		running.Wait()
		pods.Wait()
	}()
	startSources(ctx, &running, pods, sources)

	switch {
	case f.dryRun:
		return dryRun(ctx, kl, pods, sources)
	case f.runonce:
		return runOnce(ctx, kl, pods, f.runonceTimeout)
	}
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR1)
	defer signal.Stop(asked)
	running.Go(func() { reportWhenAsked(ctx, asked, kl, sources) })
	glog.Infof("kubelet14 %s: hostname %s, root_dir %s", version, f.hostname, rootDir)
	for _, status := range sourceStatuses(sources) {
		glog.Infof("pods come from source %s (%s)", status.Source, status.Place)
	}
	if infoServer != nil {
		running.Go(func() { f.serve(ctx, infoServer) })
	}
	if err := kl.Run(ctx, pods.Updates()); err != nil {
		return err
	}
	glog.Infof("stopped; the pods go on running. Start kubelet14 again to look after them, or remove them with -cleanup and the same -root_dir and -hostname_override")
	return nil
}

// sources makes every source that the flags name.
func (f *options) sources() ([]config.Source, error) {
	parser := config.Parser{Hostname: f.hostname, Scheme: v1beta1.NewScheme(), Rules: f.rules()}
	var sources []config.Source
	if f.config != "" {
		sources = append(sources, config.NewSourceFile(f.config, f.fileCheckFrequency, parser))
	}
	if f.manifestURL != "" {
		source, err := config.NewSourceHTTP(f.manifestURL, f.httpCheckFrequency, parser)
		if err != nil {
			return nil, fmt.Errorf("-manifest_url: %w", err)
		}
		sources = append(sources, source)
	}
	if f.etcd() {
		etcd, err := config.EtcdConfig(f.etcdServers, f.etcdConfig)
		if err != nil {
			return nil, err
		}
		sources = append(sources, config.NewSourceEtcd(etcd, parser))
	}
	return sources, nil
}

// startSources sets the sources to work, until ctx is done. All are declared before
// the first one speaks.
func startSources(ctx context.Context, wg *sync.WaitGroup, pods *config.PodConfig, sources []config.Source) {
	channels := make([]chan<- api.PodUpdate, len(sources))
	for i, source := range sources {
		channels[i] = pods.Channel(ctx, source.Status().Source)
	}
	for i, source := range sources {
		wg.Go(func() { source.Run(ctx, channels[i]) })
	}
}

// dryRun prints how the sources do, and then what would be done to each pod.
func dryRun(ctx context.Context, kl *kubelet.Kubelet, pods *config.PodConfig, sources []config.Source) error {
	var plans strings.Builder
	err := kl.DryRun(ctx, pods.Updates(), &plans)
	for _, status := range sourceStatuses(sources) {
		fmt.Println(status)
	}
	fmt.Print(plans.String())
	return err
}

// runOnce prints what became of each pod, and fails when one of them did.
func runOnce(ctx context.Context, kl *kubelet.Kubelet, pods *config.PodConfig, timeout time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("-runonce_timeout of %v has passed", timeout))
	defer cancel()
	results, err := kl.RunOnce(ctx, pods.Updates())
	if results == nil {
		return err
	}
	if writeErr := kubelet.WriteStatuses(os.Stdout, results, time.Now()); writeErr != nil {
		return writeErr
	}
	failed := 0
	for _, r := range results {
		if r.Phase == api.PodFailed {
			failed++
		}
	}
	if failed > 0 {
		err = errors.Join(notUp(failed, len(results)), err)
	}
	return err
}

// reportWhenAsked prints at each signal how the sources do, and what has become of
// every pod, until ctx is done.
func reportWhenAsked(ctx context.Context, asked <-chan os.Signal, kl *kubelet.Kubelet, sources []config.Source) {
	for {
		select {
		case <-asked:
		case <-ctx.Done():
			return
		}
		var report strings.Builder // printed in one go, since the log may go the same way
		for _, status := range sourceStatuses(sources) {
			fmt.Fprintln(&report, status)
		}
		statuses, _, err := kl.Statuses()
		if err == nil {
			err = kubelet.WriteStatuses(&report, statuses, time.Now())
		}
		fmt.Print(report.String())
		if err != nil {
			glog.Errorf("say what has become of the pods: %v", err)
		}
	}
}

// sourceErrors says by source what of it cannot be read now.
func sourceErrors(sources []config.Source) map[string]string {
	errs := map[string]string{}
	for _, status := range sourceStatuses(sources) {
		if !status.FailingSince.IsZero() {
			errs[status.Source] = status.LastError
		}
	}
	return errs
}

// untilSignal gives a context that ends with the first SIGINT or SIGTERM. A second
// one ends the program at once.
func untilSignal() (ctx context.Context, stop func()) {
	ctx, stop = signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

func isTerminal(file *os.File) bool {
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
