// Package options has the settings of the program: the flags with their defaults, checks and help, and where the log
// goes. Upstream: cmd/kubelet/app/options.
package options

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/docker/go-units"

	"kubelet14/api"
	"kubelet14/api/validation"
	"kubelet14/kubelet"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/eviction"
	"kubelet14/kubelet/features"
	"kubelet14/kubelet/imagegc"
	"kubelet14/kubelet/server"
	"kubelet14/volume"
)

// Options are the values of the flags. A flag that only the kubelet or only the info
// server needs is in their options; main sets what is missing there.
type Options struct {
	Kubelet  kubelet.Options
	Server   server.Options
	Eviction eviction.Options
	Images   imagegc.Options
	Rules    validation.Rules
	Gates    features.Gates

	ConfigFile string
	Ignored    []string // fields of that file that mean nothing here

	Config, ManifestURL, EtcdConfig        string
	EtcdServers                            []string
	EtcdAccept                             bool
	FileCheckFrequency, HTTPCheckFrequency time.Duration

	DockerEndpoint, RootDir            string
	EnableServer                       bool
	TokenFile, TLSCertFile, TLSKeyFile string

	Runonce, DryRun, Convert, Status, Cleanup bool
	Step                                      bool
	Watch, Version, Completion, ConfigWait    bool
	EtcdStatus, ExitOnLockContention          bool
	RunonceTimeout                            time.Duration
}

// define declares the flags of f, with their defaults.
func (f *Options) define() *flag.FlagSet {
	fs := flag.NewFlagSet("kubelet14", flag.ContinueOnError)
	fs.StringVar(&f.Config, "config", "", "`path` of a manifest, or of a directory of manifests (*.yaml, *.yml, *.json, *.manifest)")
	fs.StringVar(&f.ConfigFile, "config_file", "", "`path` of a file of kind KubeletConfiguration with settings; flags count before it")
	fs.BoolVar(&f.ConfigWait, "config_wait", false, "wait for -config if it does not exist yet")
	fs.DurationVar(&f.FileCheckFrequency, "file_check_frequency", 20*time.Second, "longest time between two looks at -config; most edits are seen at once")
	fs.StringVar(&f.ManifestURL, "manifest_url", "", "`URL` of a manifest or of a list of manifests")
	fs.DurationVar(&f.HTTPCheckFrequency, "http_check_frequency", 20*time.Second, "time between two reads of -manifest_url")
	fs.Func("etcd_servers", "`addresses` of etcd servers, with commas between them; can be repeated", func(list string) error {
		f.EtcdServers = append(f.EtcdServers, strings.Split(strings.ReplaceAll(list, " ", ""), ",")...)
		return nil
	})
	fs.StringVar(&f.EtcdConfig, "etcd_config", "", "`path` of the etcd client's configuration in YAML, instead of -etcd_servers")
	fs.BoolVar(&f.EtcdAccept, "etcd_accept", false, "accept etcd as it is at this start, after it was replaced or restored; not for every start")
	fs.BoolVar(&f.EtcdStatus, "etcd_status", false, "write the status of this host to that etcd, which -status with the same servers prints")

	k := &f.Kubelet
	fs.StringVar(&k.Identity.Hostname, "hostname_override", "", "`name` of this kubelet; default is the name of the host")
	fs.StringVar(&f.RootDir, "root_dir", "/var/lib/kubelet", "`directory` of this kubelet, with the volumes of its pods")
	fs.BoolVar(&f.ExitOnLockContention, "exit_on_lock_contention", false, "exit with 0 when another kubelet14 waits for the -root_dir, and wait for it at the start")
	fs.StringVar(&f.DockerEndpoint, "docker_endpoint", "", "`address` of Docker; default is $DOCKER_HOST or unix:///var/run/docker.sock")
	fs.StringVar(&k.NetworkContainerImage, "network_container_image", dockertools.PauseImage, "`image` of network containers; the default is built in")
	fs.StringVar(&k.PodNetwork, "pod_network", "", "`name` of the Docker network in which pods find each other by name, made when missing; "+
		"default is the one that they are in, at first kubelet14-HOSTNAME; bridge is Docker's, without names")
	fs.BoolVar(&f.Rules.AllowPrivileged, "allow_privileged", false, "allow privileged containers")
	fs.DurationVar(&k.SyncFrequency, "sync_frequency", 10*time.Second, "longest time between two looks at Docker; most changes are seen at once")
	fs.DurationVar(&k.MaxBackoff, "max_restart_backoff", time.Minute, "longest wait before a crashing container is started again")
	fs.IntVar(&k.MaxDeadContainers, "maximum_dead_containers_per_container", 2, "`number` of dead attempts to keep of each container; 0: all")
	fs.DurationVar(&k.MinDeadAge, "minimum_container_ttl_duration", 0, "age that a dead container must have before it is removed")
	fs.Float64Var(&k.RegistryQPS, "registry_qps", 0, "`pulls` of images that start per second, on average; 0 is no limit")
	fs.IntVar(&k.RegistryBurst, "registry_burst", 10, "`pulls` that may start at once before -registry_qps counts")
	k.ContainerLog.MaxSize = 10e6
	fs.Func("container_log_max_size", "`size` at which Docker starts a new log file of a container (default 10MB); "+
		"0 leaves logs to Docker, as does a log driver other than json-file", func(size string) (err error) {
		if k.ContainerLog.MaxSize, err = units.FromHumanSize(size); err != nil {
			k.ContainerLog.MaxSize, err = api.ParseQuantity(size, 1) // such as 10Mi
		}
		return err
	})
	fs.IntVar(&k.ContainerLog.MaxFiles, "container_log_max_files", 3, "`number` of log files that Docker keeps of a container")

	f.Eviction = eviction.DefaultOptions()
	e := &f.Eviction
	fs.Var(e.Hard, "eviction_hard", "`thresholds` of free memory and disk space below which the host has a pressure; they are merged over the default. "+
		"It is reported, and acted on with -feature_gates=Eviction=true")
	fs.Var(e.Soft, "eviction_soft", "`thresholds` below which it has one after -eviction_soft_grace_period")
	fs.Var(e.SoftGracePeriod, "eviction_soft_grace_period", "`periods` of those thresholds, such as memory.available=1m30s")
	fs.DurationVar(&e.TransitionPeriod, "eviction_pressure_transition_period", e.TransitionPeriod, "time below no threshold after which a pressure is over")
	fs.IntVar(&f.Images.High, "image_gc_high_threshold", 85, "`percentage` of the file system of images from which unneeded ones that were pulled are removed; "+
		"100: never. It needs the gate ImageGarbageCollection")
	fs.IntVar(&f.Images.Low, "image_gc_low_threshold", 80, "`percentage` down to which they are")
	fs.DurationVar(&f.Images.MinAge, "minimum_image_ttl_duration", 2*time.Minute, "time that an image must have been unneeded")
	fs.IntVar(&e.MaxPodGrace, "eviction_max_pod_grace_period", 0, "most `seconds` that the containers of an evicted pod have to end, below a soft threshold")

	s := &f.Server
	fs.BoolVar(&f.EnableServer, "enable_server", true, "serve the page, the API and metrics at -address and -port; not with -runonce")
	fs.StringVar(&s.Address, "address", "127.0.0.1", "`address` of the info server: unix:PATH or an IP; one that other hosts can reach needs TLS")
	fs.IntVar(&s.Port, "port", 10250, "`port` of the info server; 0 picks a free one")
	fs.BoolVar(&s.Debugging, "enable_debugging_handlers", true, "let clients with the token read logs and run commands in containers")
	fs.StringVar(&s.LogUnits, "log_query_units", "", "`services` whose logs in systemd's journal are at /logs/, such as docker,kubelet14; default is none")
	fs.StringVar(&f.TokenFile, "token_file", "", "`path` of the token; default is a generated one in -root_dir")
	fs.StringVar(&f.TLSCertFile, "tls_cert_file", "", "`path` of the certificate of the info server, PEM, followed by those that signed it")
	fs.StringVar(&f.TLSKeyFile, "tls_private_key_file", "", "`path` of its private key, PEM")
	fs.IntVar(&s.CAdvisorPort, "cadvisor_port", 4194, "`port` of a cAdvisor on this host, for statistics; 0 for none")

	fs.Var(&f.Gates, "feature_gates", "`gates` to turn on or off, such as Services=true,AllAlpha=false:"+features.Usage())

	fs.BoolVar(&f.Runonce, "runonce", false, "start the pods, print a table and exit, with 0 if all are up")
	fs.DurationVar(&f.RunonceTimeout, "runonce_timeout", 5*time.Minute, "longest time that -runonce takes")
	fs.BoolVar(&f.DryRun, "dry_run", false, "print what would be done to each pod, with reasons, and exit")
	fs.BoolVar(&f.Step, "step", false, "print each plan with what is desired and what is there, and carry it out when told so at the terminal; q ends")
	fs.BoolVar(&f.Convert, "convert", false, "print the pods of -config as Pods of today, for kubectl apply, and exit; "+
		"if one cannot be converted, print none and exit with 1")
	fs.BoolVar(&f.Status, "status", false, "print the pods of the kubelet that runs with the same flags and exit, with 0 if all are up; "+
		"with -etcd_servers or -etcd_config print all hosts whose kubelets run with -etcd_status")
	fs.BoolVar(&f.Watch, "watch", false, "with -status: print the table again when it changes, until Ctrl-C")
	fs.BoolVar(&f.Cleanup, "cleanup", false, "stop and remove all containers and volumes of this kubelet, and exit")
	fs.BoolVar(&f.Version, "version", false, "print the version and exit")
	fs.BoolVar(&f.Completion, "completion", false, "print a script for the completion of flags in bash and exit")
	return fs
}

// Parse reads and checks the command line of the program of this version. For -h, -version and -completion it prints
// what they ask for, and returns flag.ErrHelp.
func Parse(version string, args []string) (*Options, error) {
	f := &Options{}
	all, logs := f.define(), flag.CommandLine // the log's are glog's
	all.SetOutput(io.Discard)                 // main prints the error
	logs.Set("logtostderr", "true")           // else glog writes to files only
	logs.Lookup("logtostderr").DefValue = "true"
	logs.VisitAll(func(fl *flag.Flag) { all.Var(fl.Value, fl.Name, fl.Usage) })
	all.VisitAll(func(fl *flag.Flag) {
		if dashed := strings.ReplaceAll(fl.Name, "_", "-"); dashed != fl.Name {
			all.Var(fl.Value, dashed, fl.Usage)
		}
	})
	err := all.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		printHelp(all, logs)
	case err != nil:
		err = suggestFlag(err, all)
	case f.Version:
		fmt.Println("kubelet14", version)
		err = flag.ErrHelp
	case f.Completion:
		printCompletion(all)
		err = flag.ErrHelp
	}
	if err != nil {
		return nil, err
	}
	if f.Server.LogDir = logs.Lookup("log_dir").Value.String(); f.Server.LogDir != "" {
		logs.Set("logtostderr", "true") // StartLog writes the file
	}
	host, _ := os.Hostname() // without a name check asks for -hostname_override
	f.Kubelet.Identity.Hostname = cmp.Or(f.Kubelet.Identity.Hostname, strings.ToLower(host))
	check := func() error { return f.check(all.Args()) }
	if err := f.readFile(all, check); err != nil {
		return nil, err
	}
	if err := logs.Parse(nil); err != nil { // glog needs a parsed flag.CommandLine
		return nil, err
	}
	if err := check(); err != nil {
		return nil, err
	}
	if f.Kubelet.ContainerLog.MaxSize == 0 {
		f.Kubelet.ContainerLog = dockertools.LogLimit{}
	}
	f.Kubelet.Identity.RootDir, err = volume.AbsRootDir(f.RootDir)
	f.Server.TokenFile = cmp.Or(f.TokenFile, filepath.Join(f.Kubelet.Identity.RootDir, "token"))
	return f, err
}

// Etcd reports whether pods come from etcd.
func (f *Options) Etcd() bool { return len(f.EtcdServers) > 0 || f.EtcdConfig != "" }

// Serves reports whether there is an info server.
func (f *Options) Serves() bool {
	return f.EnableServer && !f.Runonce && !f.DryRun && !f.Convert && !f.Status && !f.Cleanup
}

// networkName matches the names that Docker allows for networks, and no id, which has 64 digits.
var networkName = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,62}$`)

// unitNames matches names of services with commas between them, and no pattern.
var unitNames = regexp.MustCompile(`^[a-zA-Z0-9:_.@,-]*$`)

// check returns an error for values and combinations that make no sense.
func (f *Options) check(args []string) error {
	k, s := &f.Kubelet, &f.Server
	asksServer := f.Status && !f.Etcd()
	modes := slices.DeleteFunc([]bool{f.Runonce, f.DryRun, f.Convert, f.Status, f.Cleanup}, func(set bool) bool { return !set })
	logDir, logDirErr := os.Stat(s.LogDir)
	config, _ := os.Stat(f.Config)
	configFileDir, _ := os.Stat(filepath.Dir(f.ConfigFile))
	meant := meantBy(append(args, "")[0])
	for _, rule := range []struct {
		broken  bool
		message string
	}{
		{len(args) > 0 && (args[0] == "true" || args[0] == "false"),
			fmt.Sprintf("unexpected argument %q: a flag that is true or false takes it after =, as in -enable_server=false", args)},
		{meant != "", fmt.Sprintf("unexpected argument %q: did you mean -%s?", args, meant)},
		{len(args) > 0, fmt.Sprintf("unexpected argument %q: every setting is a flag, such as -config=manifests", args)},
		{s.LogDir != "" && (logDirErr != nil || !logDir.IsDir()), "-log_dir=" + s.LogDir + " is not a directory: make it first"},
		{len(modes) > 1, "-runonce, -dry_run, -convert, -status and -cleanup cannot be combined: give one"},
		{f.Step && len(modes) > 0, "-step is for a kubelet that goes on running, so it cannot be combined with -runonce, -dry_run, -convert, -status or -cleanup"},
		{f.Convert && (f.Config == "" || f.ManifestURL != "" || f.Etcd()), "-convert reads files: give it a -config and no other source"},
		{f.Config == "" && f.ManifestURL == "" && !f.Etcd() && !f.Cleanup && !f.Status,
			"no source of pods: give -config=DIRECTORY, -manifest_url=URL or -etcd_servers=ADDRESS"},
		{f.ConfigFile != "" && os.SameFile(config, configFileDir), "-config_file=" + f.ConfigFile + " is one of the manifests of -config=" + f.Config + ": move it to another directory"},
		{slices.Contains(f.EtcdServers, ""), "-etcd_servers has an empty address"},
		{len(f.EtcdServers) > 0 && f.EtcdConfig != "",
			"-etcd_servers and -etcd_config cannot be combined: write the servers as endpoints into the file"},
		{f.Runonce && f.Etcd(), "-runonce and etcd cannot be combined, as in 2014: pods in etcd come and go, and -runonce only starts them"},
		{f.EtcdAccept && !f.Etcd(), "-etcd_accept is for pods from etcd: give -etcd_servers or -etcd_config too"},
		{f.RootDir == "", "-root_dir is empty: give it the path of a directory for the volumes of the pods"},
		{!validation.IsDNSSubdomain(k.Identity.Hostname), fmt.Sprintf(
			"hostname %q has other characters than lower-case letters, digits, dashes and dots: give -hostname_override", k.Identity.Hostname)},

		{f.FileCheckFrequency <= 0, "-file_check_frequency must be longer than 0"},
		{f.HTTPCheckFrequency <= 0, "-http_check_frequency must be longer than 0"},
		{k.PodNetwork != "" && !networkName.MatchString(k.PodNetwork) || slices.Contains([]string{"host", "none", "default"}, k.PodNetwork),
			fmt.Sprintf("-pod_network=%s is not a network that pods can share: give a name such as shop, or bridge", k.PodNetwork)},

		{k.SyncFrequency <= 0, "-sync_frequency must be longer than 0"},
		{f.RunonceTimeout <= 0, "-runonce_timeout must be longer than 0"},
		{k.MaxBackoff < time.Second, "-max_restart_backoff must be at least 1s, which is the first wait"},
		{k.MaxDeadContainers < 0, "-maximum_dead_containers_per_container must not be negative"},
		{k.MinDeadAge < 0, "-minimum_container_ttl_duration must not be negative"},
		{k.RegistryQPS < 0, "-registry_qps must not be negative; 0 is no limit"},
		{k.RegistryBurst < 1, "-registry_burst must be 1 or more, or no pull could start"},
		{k.ContainerLog.MaxSize < 0, "-container_log_max_size must not be negative"},
		{!eviction.SameSignals(f.Eviction.Soft, f.Eviction.SoftGracePeriod),
			"-eviction_soft and -eviction_soft_grace_period belong together: give both for the same signals"},
		{f.Images.Low < 0 || f.Images.Low > f.Images.High || f.Images.High > 100,
			fmt.Sprintf("-image_gc_low_threshold=%d and -image_gc_high_threshold=%d must be from 0 to 100, and the first not above the second",
				f.Images.Low, f.Images.High)},
		{f.Images.MinAge < 0, "-minimum_image_ttl_duration must not be negative"},
		{f.Eviction.TransitionPeriod < 0, "-eviction_pressure_transition_period must not be negative"},
		{f.Eviction.MaxPodGrace < 0, "-eviction_max_pod_grace_period must not be negative"},
		{k.ContainerLog.MaxFiles < 1, "-container_log_max_files must be 1 or more"},

		{(f.TLSCertFile == "") != (f.TLSKeyFile == ""), "-tls_cert_file and -tls_private_key_file belong together: give both"},
		{!unitNames.MatchString(s.LogUnits) || strings.Contains(s.LogUnits+",", ".service,"), fmt.Sprintf(
			"-log_query_units=%s: give names of services with commas between them and without .service, such as docker,kubelet14", s.LogUnits)},
		{s.CAdvisorPort < 0 || s.CAdvisorPort > 65535, "-cadvisor_port is not a port; 0 means that there is no cAdvisor"},
		{f.Watch && !f.Status, "-watch is for -status: give both"},
		{f.EtcdStatus && !f.Etcd(), "-etcd_status needs an etcd: give -etcd_servers or -etcd_config"},
		{asksServer && !f.EnableServer, "-status asks the info server, so it cannot be combined with -enable_server=false"},
		{asksServer && s.Port == 0 && !strings.HasPrefix(s.Address, "unix:"), "-status needs the -port, which is in the log of the kubelet"},
	} {
		if rule.broken {
			return errors.New(rule.message)
		}
	}
	if f.Serves() || asksServer {
		return server.CheckAddress(s.Address, s.Port, f.TLSCertFile != "")
	}
	return nil
}
