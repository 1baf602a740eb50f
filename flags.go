package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/docker/go-units"

	"kubelet14/api/validation"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/server"
)

// options are the values of the flags.
type options struct {
	config, manifestURL, etcdConfig string
	etcdServers                     servers

	hostname, networkContainerImage, dockerEndpoint, rootDir string

	fileCheckFrequency, httpCheckFrequency, syncFrequency time.Duration
	runonceTimeout, maxRestartBackoff, minContainerTTL    time.Duration

	maxDeadContainers int

	registryQPS   float64
	registryBurst int

	containerLogMaxSize  byteSize
	containerLogMaxFiles int

	enableServer, enableDebuggingHandlers bool
	address                               string
	port, cadvisorPort                    int
	tokenFile, tlsCertFile, tlsKeyFile    string

	allowPrivileged, runonce, dryRun, status, cleanup, version bool
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

// byteSize is the value of a flag that takes a size such as 10MB.
type byteSize int64

func (b *byteSize) String() string {
	return units.CustomSize("%.4g%s", float64(*b), 1000, []string{"B", "KB", "MB", "GB", "TB"})
}

// Set implements flag.Value.
func (b *byteSize) Set(text string) error {
	size, err := units.FromHumanSize(text)
	if err != nil {
		return errors.New("a size is a number with B, KB, MB or GB behind it")
	}
	*b = byteSize(size)
	return nil
}

const usage = `kubelet14 keeps the pods of this host as their manifests say.

  kubelet14 -config=manifests/            run, until it is told to stop; the pods stay
  kubelet14 -config=manifests/ -runonce   start the pods, print a table, exit
  kubelet14 -config=manifests/ -dry_run   print what it would do, and why; touch nothing
  kubelet14 -status                       ask the one that runs what has become of the pods
  kubelet14 -cleanup                      stop and remove all that it has made, and exit

Pods come from files (-config), from a web server (-manifest_url) and from etcd
(-etcd_servers), from any of them or from all.

It knows what it has made by its hostname and its root_dir: give the same two
every time. Dashes and underscores mean the same in the names of flags. While it
runs, http://127.0.0.1:10250/ shows what has become of every pod; at the signal
USR1 it prints that too (kill -USR1 PID).

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
	ours.Float64Var(&f.registryQPS, "registry_qps", 0, "`pulls` of images to begin in a second, on average; 0 is no limit")
	ours.IntVar(&f.registryBurst, "registry_burst", 10, "`pulls` that may begin at once before -registry_qps counts")
	f.containerLogMaxSize = 10e6
	ours.Var(&f.containerLogMaxSize, "container_log_max_size", "`size` at which Docker begins a new file for a container's log; 0 leaves logs to Docker, as any log driver but json-file does")
	ours.IntVar(&f.containerLogMaxFiles, "container_log_max_files", 3, "log `files` that Docker keeps of a container")
	ours.BoolVar(&f.enableServer, "enable_server", true, "show the pods at -address and -port; not with -runonce")
	ours.StringVar(&f.address, "address", "127.0.0.1", "`address` of the info server: one of this host's, or unix:PATH; any but a loopback address needs TLS")
	ours.IntVar(&f.port, "port", 10250, "`port` of the info server; 0 takes a free one")
	ours.BoolVar(&f.enableDebuggingHandlers, "enable_debugging_handlers", true, "let who has the token read logs and run commands in containers")
	ours.StringVar(&f.tokenFile, "token_file", "", "`path` of the token; when empty, one is made in -root_dir")
	ours.StringVar(&f.tlsCertFile, "tls_cert_file", "", "`path` of the info server's certificate, PEM; with those that signed it behind it")
	ours.StringVar(&f.tlsKeyFile, "tls_private_key_file", "", "`path` of its private key, PEM")
	ours.IntVar(&f.cadvisorPort, "cadvisor_port", 4194, "`port` where a cAdvisor of this host may have statistics; 0: ask none")
	ours.BoolVar(&f.status, "status", false, "print what the kubelet that runs with the same flags knows of its pods, and exit: with 0 when all run")
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
	// Files are wanted then as well; glog takes logtostderr for "no files".
	given := map[string]bool{}
	all.Visit(func(fl *flag.Flag) { given[fl.Name] = true })
	if given["log_dir"] && !given["logtostderr"] {
		dir := flag.Lookup("log_dir").Value.String()
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("-log_dir=%s is no directory: make it first", dir) // glog would end the program at its first line
		}
		if err := errors.Join(flag.Set("logtostderr", "false"), flag.Set("alsologtostderr", "true")); err != nil {
			return nil, err
		}
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
	for _, mode := range []bool{f.runonce, f.dryRun, f.status, f.cleanup} {
		if mode {
			modes++
		}
	}
	if modes > 1 {
		return errors.New("-runonce, -dry_run, -status and -cleanup exclude each other")
	}
	switch {
	case f.config == "" && f.manifestURL == "" && !f.etcd() && !f.cleanup && !f.status:
		return errors.New("nothing says which pods to run: give -config=DIRECTORY, -manifest_url=URL or -etcd_servers=ADDRESS")
	case len(f.etcdServers) > 0 && f.etcdConfig != "":
		return errors.New("-etcd_servers and -etcd_config exclude each other: write the servers as endpoints into the file")
	case f.rootDir == "":
		return errors.New("-root_dir is empty: give it the path of a directory for the pods' volumes")
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
	switch {
	case f.registryQPS < 0:
		return fmt.Errorf("-registry_qps=%v: it must not be negative; 0 is no limit", f.registryQPS)
	case f.registryBurst < 1:
		return fmt.Errorf("-registry_burst=%d: it must be 1 or more, or no pull could begin", f.registryBurst)
	case f.containerLogMaxSize < 0 || f.containerLogMaxFiles < 1:
		return errors.New("-container_log_max_size must not be negative, and -container_log_max_files must be 1 or more")
	}
	if err := f.checkServer(); err != nil {
		return err
	}
	return f.findHostname()
}

// checkServer refuses an info server that could not be, or that others could use.
func (f *options) checkServer() error {
	switch {
	case (f.tlsCertFile == "") != (f.tlsKeyFile == ""):
		return errors.New("-tls_cert_file and -tls_private_key_file need each other")
	case f.cadvisorPort < 0 || f.cadvisorPort > 65535:
		return fmt.Errorf("-cadvisor_port=%d is no port; 0 asks no cAdvisor", f.cadvisorPort)
	case f.status && !f.enableServer:
		return errors.New("-status asks the info server: it and -enable_server=false exclude each other")
	case f.status && f.port == 0 && !strings.HasPrefix(f.address, "unix:"):
		return errors.New("-status needs to know the -port: the log of the kubelet names it at its start")
	case !f.serves() && !f.status:
		return nil
	}
	return server.CheckAddress(f.address, f.port, f.tlsCertFile != "")
}

// serves says whether there is an info server.
func (f *options) serves() bool {
	return f.enableServer && !f.runonce && !f.dryRun && !f.status && !f.cleanup
}

// containerLog is what bounds the log of each container.
func (f *options) containerLog() dockertools.LogLimit {
	if f.containerLogMaxSize == 0 {
		return dockertools.LogLimit{}
	}
	return dockertools.LogLimit{MaxSize: int64(f.containerLogMaxSize), MaxFiles: f.containerLogMaxFiles}
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
