// Kubelet14 is the kubelet of October 2014 (Kubernetes v0.4), written anew: it
// reads pod manifests from a directory, a URL and etcd, and keeps their containers
// running on Docker.
//
//	kubelet14 -config=manifests/              run, until it is told to stop
//	kubelet14 -config=manifests/ -runonce     start the pods, print a table, exit
//	kubelet14 -config=manifests/ -dry_run     print what it would do, and why
//	kubelet14 -cleanup                        remove all it has made
//
// This file has flags, wiring, signals and exit codes, and no logic. The way of a
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
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/golang/glog"

	"kubelet14/api"
	"kubelet14/api/v1beta1"
	"kubelet14/api/validation"
	"kubelet14/config"
	"kubelet14/kubelet"
	"kubelet14/kubelet/dockertools"
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

	docker, err := dockertools.NewClient(f.dockerEndpoint)
	if err != nil {
		return err
	}
	rootDir, err := volume.AbsRootDir(f.rootDir)
	if err != nil {
		return err
	}
	opts := kubelet.Options{
		Identity:              dockertools.Identity{Hostname: f.hostname, RootDir: rootDir},
		Docker:                docker,
		NetworkContainerImage: f.networkContainerImage,
		AllowPrivileged:       f.allowPrivileged,
		SyncFrequency:         f.syncFrequency,
		MaxRestartBackoff:     f.maxRestartBackoff,
		MaxDeadContainers:     f.maxDeadContainers,
		MinContainerTTL:       f.minContainerTTL,
	}
	if !f.dryRun {
		volumes, err := volume.OpenRootDir(f.rootDir)
		if err != nil {
			return err
		}
		defer volumes.Close()
		opts.Volumes = volumes
	}
	kl := kubelet.NewMainKubelet(opts)
	if f.cleanup {
		return kl.Cleanup(ctx)
	}

	sources, err := f.sources()
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
	glog.Infof("kubelet14 %s: hostname %s, root_dir %s", version, f.hostname, rootDir)
	for _, source := range sources {
		status := source.Status()
		glog.Infof("pods come from source %s (%s)", status.Source, status.Place)
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
	for _, source := range sources {
		fmt.Println(source.Status())
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
	if writeErr := kubelet.WriteResults(os.Stdout, results); writeErr != nil {
		return writeErr
	}
	failed := 0
	for _, r := range results {
		if r.State == "failed" {
			failed++
		}
	}
	if failed > 0 {
		err = errors.Join(fmt.Errorf("%d of %d pods are not up, for the reasons in the table", failed, len(results)), err)
	}
	return err
}

// untilSignal gives a context that ends with the first SIGINT or SIGTERM. A second
// one ends the program at once.
func untilSignal() (ctx context.Context, stop func()) {
	ctx, stop = signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// options are the values of the flags.
type options struct {
	config, manifestURL, etcdConfig string
	etcdServers                     servers

	hostname, networkContainerImage, dockerEndpoint, rootDir string

	fileCheckFrequency, httpCheckFrequency, syncFrequency time.Duration
	runonceTimeout, maxRestartBackoff, minContainerTTL    time.Duration

	maxDeadContainers int

	allowPrivileged, runonce, dryRun, cleanup, version bool
}

// rules are what a good manifest is here, for the source and for PodConfig alike.
func (f *options) rules() validation.Rules {
	return validation.Rules{AllowPrivileged: f.allowPrivileged}
}

// etcd says whether pods come from etcd.
func (f *options) etcd() bool {
	return len(f.etcdServers) > 0 || f.etcdConfig != ""
}

// servers is the value of -etcd_servers: each use of the flag adds some.
type servers []string

func (s *servers) String() string { return strings.Join(*s, ",") }

// Set implements flag.Value.
func (s *servers) Set(list string) error {
	for server := range strings.SplitSeq(list, ",") {
		if server = strings.TrimSpace(server); server == "" {
			return errors.New("value should not be an empty string")
		}
		*s = append(*s, server)
	}
	return nil
}

const usage = `kubelet14 keeps the pods of this host as their manifests say.

  kubelet14 -config=manifests/            run, until it is told to stop; the pods stay
  kubelet14 -config=manifests/ -runonce   start the pods, print a table, exit
  kubelet14 -config=manifests/ -dry_run   print what it would do, and why; touch nothing
  kubelet14 -cleanup                      stop and remove all that it has made, and exit

Pods come from files (-config), from a web server (-manifest_url) and from etcd
(-etcd_servers), from any of them or from all.

It knows what it has made by its hostname and its root_dir: give the same two
every time. Dashes and underscores mean the same in the names of flags.

Flags:
`

// parseFlags reads the command line and checks what its flags say together.
func parseFlags(args []string) (*options, error) {
	f := &options{}
	ours := flag.NewFlagSet("kubelet14", flag.ContinueOnError)
	ours.StringVar(&f.config, "config", "", "`path` of a manifest, or of a directory of manifests (*.yaml, *.yml, *.json, *.manifest)")
	ours.DurationVar(&f.fileCheckFrequency, "file_check_frequency", 20*time.Second, "longest time between two looks at -config; most changes are seen at once")
	ours.StringVar(&f.manifestURL, "manifest_url", "", "`URL` of a manifest or a list of manifests")
	ours.DurationVar(&f.httpCheckFrequency, "http_check_frequency", 20*time.Second, "time between two looks at -manifest_url")
	ours.Var(&f.etcdServers, "etcd_servers", "`addresses` of etcd servers, with commas between them, such as http://127.0.0.1:2379; may be given again for more")
	ours.StringVar(&f.etcdConfig, "etcd_config", "", "`path` of a configuration of the etcd client in YAML, with endpoints, TLS and user; instead of -etcd_servers")
	ours.DurationVar(&f.syncFrequency, "sync_frequency", 10*time.Second, "longest time between two looks at Docker; most changes are seen at once")
	ours.StringVar(&f.hostname, "hostname_override", "", "`name` of this kubelet; the host's name when empty")
	ours.StringVar(&f.rootDir, "root_dir", "/var/lib/kubelet", "`directory` of this kubelet, where the pods' volumes are")
	ours.StringVar(&f.dockerEndpoint, "docker_endpoint", "", "Docker's `address`; $DOCKER_HOST when empty, else unix:///var/run/docker.sock")
	ours.StringVar(&f.networkContainerImage, "network_container_image", dockertools.PauseImage, "`image` of every pod's network container; the default is built in")
	ours.BoolVar(&f.allowPrivileged, "allow_privileged", false, "let manifests ask for privileged containers")
	ours.DurationVar(&f.maxRestartBackoff, "max_restart_backoff", time.Minute, "longest wait before a crashing container is started again")
	ours.IntVar(&f.maxDeadContainers, "maximum_dead_containers_per_container", 2, "dead `containers` to keep of each container of a pod; 0 keeps all")
	ours.DurationVar(&f.minContainerTTL, "minimum_container_ttl_duration", 0, "youngest age at which a dead container is removed")
	ours.BoolVar(&f.runonce, "runonce", false, "start the pods, print a table, and exit: with 0 when all are up")
	ours.DurationVar(&f.runonceTimeout, "runonce_timeout", 5*time.Minute, "longest time that -runonce takes")
	ours.BoolVar(&f.dryRun, "dry_run", false, "print what would be done to each pod, with reasons, and exit")
	ours.BoolVar(&f.cleanup, "cleanup", false, "stop and remove every container and volume of this kubelet, and exit")
	ours.BoolVar(&f.version, "version", false, "print the version, and exit")

	// glog put its flags into flag.CommandLine. It writes files unless told not to.
	if err := flag.Set("logtostderr", "true"); err != nil {
		return nil, err
	}
	flag.Lookup("logtostderr").DefValue = "true"
	all := flag.NewFlagSet("kubelet14", flag.ContinueOnError)
	all.SetOutput(io.Discard) // errors are printed by main, once and without the usage
	for _, set := range []*flag.FlagSet{ours, flag.CommandLine} {
		set.VisitAll(func(fl *flag.Flag) { all.Var(fl.Value, fl.Name, fl.Usage) })
	}
	err := all.Parse(underscores(all, args))
	if errors.Is(err, flag.ErrHelp) {
		fmt.Print(usage)
		ours.SetOutput(os.Stdout)
		ours.PrintDefaults()
		fmt.Print("\nFlags of the log:\n")
		flag.CommandLine.SetOutput(os.Stdout)
		flag.PrintDefaults()
	}
	if err != nil {
		return nil, err
	}
	// glog holds back what it is told before this.
	if err := flag.CommandLine.Parse(nil); err != nil {
		return nil, err
	}
	return f, f.check(all.Args())
}

// underscores lets a flag be written with dashes.
func underscores(known *flag.FlagSet, args []string) []string {
	args = slices.Clone(args)
	for i, arg := range args {
		if arg == "--" {
			break
		}
		name, value, hasValue := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		name = strings.ReplaceAll(name, "-", "_")
		if !strings.HasPrefix(arg, "-") || known.Lookup(name) == nil {
			continue
		}
		args[i] = "-" + name
		if hasValue {
			args[i] += "=" + value
		}
	}
	return args
}

// check refuses values and combinations that cannot be meant.
func (f *options) check(args []string) error {
	if f.version {
		return nil
	}
	if len(args) > 0 {
		return fmt.Errorf("unexpected argument %q: every setting is a flag, such as -config=%s", args[0], args[0])
	}
	modes := 0
	for _, mode := range []bool{f.runonce, f.dryRun, f.cleanup} {
		if mode {
			modes++
		}
	}
	if modes > 1 {
		return errors.New("-runonce, -dry_run and -cleanup exclude each other")
	}
	switch {
	case f.config == "" && f.manifestURL == "" && !f.etcd() && !f.cleanup:
		return errors.New("nothing says which pods to run: give -config=DIRECTORY, -manifest_url=URL or -etcd_servers=ADDRESS")
	case len(f.etcdServers) > 0 && f.etcdConfig != "":
		return errors.New("-etcd_servers and -etcd_config exclude each other: write the servers as endpoints into the file")
	case f.runonce && f.etcd():
		return errors.New("-runonce and etcd exclude each other, as in 2014: pods in etcd come and go, and -runonce only starts them")
	}
	for name, d := range map[string]time.Duration{
		"file_check_frequency": f.fileCheckFrequency, "http_check_frequency": f.httpCheckFrequency,
		"sync_frequency": f.syncFrequency, "runonce_timeout": f.runonceTimeout,
	} {
		if d <= 0 {
			return fmt.Errorf("-%s=%v: it must be longer than 0", name, d)
		}
	}
	if f.maxRestartBackoff < time.Second {
		return fmt.Errorf("-max_restart_backoff=%v: it must not be shorter than the first wait, which is 1s", f.maxRestartBackoff)
	}
	if f.maxDeadContainers < 0 || f.minContainerTTL < 0 {
		return errors.New("-maximum_dead_containers_per_container and -minimum_container_ttl_duration must not be negative")
	}
	return f.findHostname()
}

// findHostname falls back to the host's own name and checks either.
func (f *options) findHostname() error {
	if f.hostname == "" {
		name, err := os.Hostname()
		if err != nil {
			return fmt.Errorf("find the name of this host: %w; give -hostname_override", err)
		}
		f.hostname = strings.ToLower(name)
	}
	if !validation.IsDNSSubdomain(f.hostname) {
		return fmt.Errorf("hostname %q is not lower-case letters, digits, dashes and dots; give -hostname_override", f.hostname)
	}
	return nil
}
