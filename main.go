// Kubelet14 is the kubelet of October 2014 (Kubernetes v0.4), written anew: it reads
// manifests of pods from a directory, a URL and etcd, and keeps their containers running
// on Docker. kubelet14 -h shows how to use it.
//
// This package has wiring, signals and exit codes. Pods flow through the packages
//
//	config.Source ─▶ config.PodConfig ─▶ kubelet.Kubelet ─▶ dockertools ─▶ Docker
//
// and docs/ follows them step by step.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/golang/glog"

	"kubelet14/api"
	"kubelet14/config"
	"kubelet14/kubelet"
	dockerclient "kubelet14/kubelet/dockertools/client"
	"kubelet14/kubelet/eviction"
	"kubelet14/kubelet/features"
	"kubelet14/kubelet/imagegc"
	"kubelet14/kubelet/node"
	"kubelet14/kubelet/options"
	"kubelet14/kubelet/server"
	"kubelet14/kubelet/step"
	"kubelet14/kubelet/trace"
	"kubelet14/kubelet/wishes"
	"kubelet14/kubelet/words"
	"kubelet14/manifests/hello"
	"kubelet14/volume"
)

func main() {
	if filepath.Base(os.Args[0]) == hello.Name { // in the demo's image
		hello.Main()
	}
	os.Exit(exitCode())
}

// exitCode runs the program. It returns 0 if all is well, 1 if something failed and 2 for wrong flags.
func exitCode() int {
	ctx, stop := untilSignal()
	defer stop()
	program := words.Program{
		Version: version, In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Terminal: onTerminal(), Proc: "/proc", CarryOut: carryOut, Parser: parser,
	}
	if code, isWord := program.Run(ctx, os.Args[1:]); isWord {
		return code
	}
	f, err := options.Parse(version, os.Args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintf(os.Stderr, "kubelet14: %s\nkubelet14 -h lists the flags\n", api.WithExcerpts(err))
		return 2
	}
	return carryOut(ctx, f)
}

// carryOut does what the flags say, and returns the exit code.
func carryOut(ctx context.Context, f *options.Options) int {
	stopLog, err := options.StartLog(f.Server.LogDir)
	if err != nil {
		fmt.Fprintf(os.Stderr, "kubelet14: %v\n", err)
		return 1
	}
	defer stopLog()
	switch {
	case f.Status && f.Etcd():
		err = printHosts(ctx, f)
	case f.Status:
		err = words.Status(ctx, f, os.Stdout, onTerminal())
	case f.Convert:
		err = convert(f)
	default:
		err = run(ctx, f)
	}
	glog.Flush()
	if err != nil {
		fmt.Fprintf(os.Stderr, "kubelet14: %v\n", err)
		return 1
	}
	return 0
}

// untilSignal returns a context that ends with the first SIGINT or SIGTERM. The second
// one ends the program at once. SIGHUP does nothing: changes are noticed without it.
func untilSignal() (ctx context.Context, stop func()) {
	signal.Ignore(syscall.SIGHUP)
	ctx, stop = signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// run connects the packages and does what the flags say, until ctx is done.
func run(ctx context.Context, f *options.Options) error {
	if f.ConfigFile != "" {
		glog.Infof("settings come from %s; its fields that mean nothing here: %s", f.ConfigFile, cmp.Or(strings.Join(f.Ignored, ", "), "none"))
	}
	f.Kubelet.Trace = &trace.Trace{}
	if f.Step {
		f.Kubelet.Step = &step.Stepper{Out: os.Stdout}
		if f.DockerEndpoint != "" {
			f.Kubelet.Step.DockerFlags = []string{"--host", f.DockerEndpoint}
		}
	}
	sources, etcd, err := openSources(f)
	if etcd != nil {
		defer etcd.Close()
		f.Server.Certificates = etcd.Certificates()
	}
	if err != nil && !f.Cleanup { // which reads none
		return err
	}
	docker, err := dockerclient.New(f.DockerEndpoint)
	if err != nil {
		return err
	}
	metrics := server.NewMetrics()
	docker.Observe = metrics.DockerCall

	opts := f.Kubelet
	opts.Docker = docker
	opts.RemovalWait = config.NoPodsWait(f.FileCheckFrequency)
	opts.Credentials = dockerclient.NewKeyring("", filepath.Join(opts.Identity.RootDir, ".dockercfg")).Lookup
	opts.Sources = sources.statuses
	opts.SyncDone, opts.PullDone = metrics.SyncDone, metrics.PullDone
	handsOver := f.ExitOnLockContention && !f.DryRun && !f.Runonce && !f.Cleanup
	if handsOver {
		volume.AwaitLock(ctx, f.RootDir)
	}
	if opts.Volumes, err = openRootDir(f); err != nil {
		return err
	}
	if opts.Volumes != nil {
		defer opts.Volumes.Close()
		opts.Identity.RootDir = opts.Volumes.Path()
	}
	opts.Wishes, err = wishes.Open(opts.Identity.RootDir)
	switch {
	case f.DryRun && errors.Is(err, fs.ErrPermission): // which needs no other right to the root_dir
		glog.Warningf("%v: a plan may start pods that are stopped", err)
	case err != nil:
		return err
	}
	warnOfGates(f)
	pressure := eviction.NewManager(f.Eviction)
	pressure.Evicted = metrics.Evicted
	if f.Gates.Enabled(features.Eviction) {
		opts.Eviction = pressure
	}
	images := &imagegc.Collector{
		Interface: docker, Options: f.Images, RootDir: opts.Identity.RootDir, Pressure: pressure.ImagePressure, Removed: metrics.ImageRemoved,
	}
	collects := f.Gates.Enabled(features.ImageGarbageCollection) && !f.Runonce
	if collects {
		opts.Docker = images
	}
	kl := kubelet.NewMainKubelet(opts)
	if f.Cleanup {
		return kl.Cleanup(ctx)
	}
	house := &node.Housekeeper{
		Reader: node.Reader{Proc: "/proc", RootDir: opts.Identity.RootDir}, Read: node.Reader.Read, Info: docker.Info,
		Health: kl.Health, Pressure: pressure, Note: kl.Note,
	}
	if images.Needed, images.Note = kl.NeededImages, kl.Note; collects {
		house.Act = append(house.Act, images.Collect)
	}
	house.Act = append(house.Act, func(ctx context.Context, _ node.Facts) { kl.RelievePressure(ctx) })
	f.Server.Wishes = opts.Wishes
	infoServer, err := openServer(f, kl, sources, house, metrics)
	if err != nil {
		return err
	}

	pods := config.NewPodConfig(config.PodConfigNotificationSnapshotAndUpdates)
	pods.Watcher = opts.Trace
	ctx, end := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer func() {
		end()
		running.Wait()
		pods.Wait()
	}()
	pods.Start(ctx, sources...)
	if f.Step {
		go func() { // it ends with the program: nothing else ends a read of a terminal
			opts.Step.Read(os.Stdin)
			end()
		}()
	}
	switch {
	case f.DryRun:
		return dryRun(ctx, kl, pods, sources)
	case f.Runonce:
		return runOnce(ctx, kl, pods, f.RunonceTimeout)
	}
	glog.Infof("kubelet14 %s: hostname %s, root_dir %s", version, opts.Identity.Hostname, opts.Identity.RootDir)
	for _, status := range sources.statuses() {
		glog.Infof("pods come from source %s (%s)", status.Source, status.Place)
	}
	for _, part := range []struct {
		runs bool
		run  func(context.Context) // until its context is done
	}{
		{handsOver, func(ctx context.Context) { handOver(ctx, opts.Volumes, end) }},
		{infoServer != nil, func(ctx context.Context) { serve(ctx, infoServer) }},
		{f.EtcdStatus, func(ctx context.Context) { reporter(f, kl, sources, etcd).Run(ctx) }},
		{true, func(ctx context.Context) { warnOfCertificates(ctx, f.Server.Certificates) }},
		{collects, images.Watch},
	} {
		if part.runs {
			running.Go(func() { part.run(ctx) })
		}
	}
	house.Look(ctx) // a Docker that hangs delays it
	running.Go(func() { house.Run(ctx) })
	if err := kl.Run(ctx, pods.Updates()); err != nil {
		return err
	}
	glog.Infof("stopped; the pods go on running. Start kubelet14 again to look after them, or remove them: "+
		"kubelet14 -cleanup -root_dir=%s -hostname_override=%s", opts.Identity.RootDir, opts.Identity.Hostname)
	return nil
}

// dryRun prints the state of the sources, and then what would be done to each pod.
func dryRun(ctx context.Context, kl *kubelet.Kubelet, pods *config.PodConfig, all sources) error {
	var plans strings.Builder
	err := kl.DryRun(ctx, pods.Updates(), &plans)
	for _, status := range all.statuses() {
		line, _, _ := strings.Cut(status.String(), ":\n") // the log has the error
		fmt.Println(line)
	}
	_, printErr := fmt.Print(plans.String())
	return errors.Join(err, printErr)
}

// runOnce prints what became of each pod. It returns an error if one of them failed.
func runOnce(ctx context.Context, kl *kubelet.Kubelet, pods *config.PodConfig, timeout time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("-runonce_timeout of %v has passed", timeout))
	defer cancel()
	statuses, err := kl.RunOnce(ctx, pods.Updates())
	if statuses == nil {
		return err
	}
	_, down := server.CountUp(statuses)
	return errors.Join(down, server.WriteStatuses(os.Stdout, statuses, time.Now()), err)
}
