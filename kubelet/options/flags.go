package options

import (
	"flag"
	"strings"
	"time"

	"github.com/docker/go-units"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/eviction"
	"kubelet14/kubelet/features"
)

// topic is a group of flags in -h, each with its default.
type topic struct {
	title string
	*flag.FlagSet
}

// topics declares the flags of f in the groups of -h; the first has what people need first.
func (f *Options) topics() (topics []topic) {
	fs, k, e, s := (*flag.FlagSet)(nil), &f.Kubelet, &f.Eviction, &f.Server
	begin := func(title string) {
		fs = flag.NewFlagSet("", flag.ContinueOnError)
		topics = append(topics, topic{title, fs})
	}
	f.Eviction = eviction.DefaultOptions()
	k.ContainerLog.MaxSize = 10e6

	begin("The most common flags")
	fs.StringVar(&f.Config, "config", "", "`path` of a manifest, or of a directory of manifests (*.yaml, *.yml, *.json, *.manifest)")
	fs.StringVar(&f.ConfigFile, "config_file", "", "`path` of a file of kind KubeletConfiguration with settings; flags override it")
	fs.BoolVar(&f.Runonce, "runonce", false, "start the pods, print a table and exit, with 0 if all are up")
	fs.BoolVar(&f.DryRun, "dry_run", false, "print what would be done to each pod, with reasons, and exit")
	fs.BoolVar(&f.Step, "step", false, "print each plan beside the desired and observed state, and carry it out when you say so, here or on the page, which has buttons to break things; q quits")
	fs.BoolVar(&f.Status, "status", false, "print the pods of the running kubelet with the same flags and exit, with 0 if all are up; "+
		"with -etcd_servers or -etcd_config print all hosts whose kubelets run with -etcd_status")
	fs.BoolVar(&f.Watch, "watch", false, "with -status: print the table again when it changes, until Ctrl-C")
	fs.BoolVar(&f.Cleanup, "cleanup", false, "stop and remove all containers and volumes of this kubelet, and exit")
	fs.StringVar(&f.RootDir, "root_dir", "/var/lib/kubelet", "`directory` of this kubelet, with the volumes of its pods")
	fs.StringVar(&k.Identity.Hostname, "hostname_override", "", "`name` of this kubelet; default is the name of the host")
	fs.BoolVar(&f.Rules.AllowPrivileged, "allow_privileged", false, "allow privileged containers")
	fs.IntVar(&s.Port, "port", 10250, "`port` of the info server; 0 picks a free one")

	begin("Sources of pods")
	fs.BoolVar(&f.Convert, "convert", false, "print the pods of -config as v1 Pods, for kubectl apply, and exit; "+
		"if one cannot be converted, print none and exit with 1")
	fs.BoolVar(&f.ConfigWait, "config_wait", false, "wait for -config if it does not exist yet")
	fs.DurationVar(&f.FileCheckFrequency, "file_check_frequency", 20*time.Second, "longest time between two reads of -config; most edits are noticed at once")
	fs.StringVar(&f.ManifestURL, "manifest_url", "", "`URL` of a manifest or a list of manifests")
	fs.DurationVar(&f.HTTPCheckFrequency, "http_check_frequency", 20*time.Second, "time between two reads of -manifest_url")
	fs.Func("etcd_servers", "`addresses` of etcd servers, with commas between them; can be repeated", func(list string) error {
		f.EtcdServers = append(f.EtcdServers, strings.Split(strings.ReplaceAll(list, " ", ""), ",")...)
		return nil
	})
	fs.StringVar(&f.EtcdConfig, "etcd_config", "", "`path` of the etcd client's configuration in YAML, instead of -etcd_servers")
	fs.BoolVar(&f.EtcdAccept, "etcd_accept", false, "accept etcd as it is, once, after it was replaced or restored")
	fs.BoolVar(&f.EtcdStatus, "etcd_status", false, "write the status of this host to that etcd, which -status with the same servers prints")

	begin("Docker and images")
	fs.StringVar(&f.DockerEndpoint, "docker_endpoint", "", "`address` of Docker; default is $DOCKER_HOST or unix:///var/run/docker.sock")
	fs.StringVar(&k.NetworkContainerImage, "network_container_image", dockertools.PauseImage, "`image` of network containers; the default is built in")
	fs.StringVar(&k.PodNetwork, "pod_network", "", "`name` of the Docker network in which pods find each other by name, made when missing; "+
		"default is the one that they are in, at first kubelet14-HOSTNAME; bridge is Docker's, without names")
	fs.Float64Var(&k.RegistryQPS, "registry_qps", 0, "`pulls` of images that start per second, on average; 0 is no limit")
	fs.IntVar(&k.RegistryBurst, "registry_burst", 10, "`pulls` that may start at once before -registry_qps counts")
	fs.Func("container_log_max_size", "`size` at which Docker starts a new log file of a container (default 10MB); "+
		"0 leaves logs to Docker, as does a log driver other than json-file", func(size string) (err error) {
		if k.ContainerLog.MaxSize, err = units.FromHumanSize(size); err != nil {
			k.ContainerLog.MaxSize, err = api.ParseQuantity(size, 1) // such as 10Mi
		}
		return err
	})
	fs.IntVar(&k.ContainerLog.MaxFiles, "container_log_max_files", 3, "`number` of log files that Docker keeps of a container")

	begin("Pods and containers")
	fs.DurationVar(&k.SyncFrequency, "sync_frequency", 10*time.Second, "longest time between two syncs with Docker; most changes are noticed at once")
	fs.DurationVar(&k.MaxBackoff, "max_restart_backoff", time.Minute, "longest wait before a crashing container is restarted")
	fs.IntVar(&k.MaxDeadContainers, "maximum_dead_containers_per_container", 2, "`number` of dead attempts to keep of each container; 0: all")
	fs.DurationVar(&k.MinDeadAge, "minimum_container_ttl_duration", 0, "minimum age of a dead container before it is removed")
	fs.DurationVar(&f.RunonceTimeout, "runonce_timeout", 5*time.Minute, "time limit of -runonce")

	begin("The memory and disks of the host")
	fs.Var(e.Hard, "eviction_hard", "`thresholds` of free memory and disk space below which the host is under pressure; they are merged over the default. "+
		"The pressure is reported, and relieved with -feature_gates=Eviction=true")
	fs.Var(e.Soft, "eviction_soft", "`thresholds` below which it is under pressure after -eviction_soft_grace_period")
	fs.Var(e.SoftGracePeriod, "eviction_soft_grace_period", "grace `periods` of the soft thresholds, such as memory.available=1m30s")
	fs.DurationVar(&e.TransitionPeriod, "eviction_pressure_transition_period", e.TransitionPeriod, "how long no threshold must be crossed before the pressure ends")
	fs.IntVar(&e.MaxPodGrace, "eviction_max_pod_grace_period", 0, "longest grace, in `seconds`, of a pod that is evicted for a soft threshold")
	fs.IntVar(&f.Images.High, "image_gc_high_threshold", 85, "disk usage, as a `percentage`, above which unneeded images that were pulled are removed; "+
		"100: never. It needs the gate ImageGarbageCollection")
	fs.IntVar(&f.Images.Low, "image_gc_low_threshold", 80, "disk usage, as a `percentage`, at which the removal stops")
	fs.DurationVar(&f.Images.MinAge, "minimum_image_ttl_duration", 2*time.Minute, "how long an image must be unneeded before it is removed")

	begin("Info server")
	fs.BoolVar(&f.EnableServer, "enable_server", true, "serve the page, the API and metrics at -address and -port; not with -runonce")
	fs.StringVar(&s.Address, "address", "127.0.0.1", "`address` of the info server: unix:PATH or an IP; one that other hosts can reach needs TLS")
	fs.BoolVar(&s.Debugging, "enable_debugging_handlers", true, "let clients with the token read logs and run commands in containers")
	fs.StringVar(&s.LogUnits, "log_query_units", "", "`services` whose logs in systemd's journal are at /logs/, such as docker,kubelet14; default is none")
	fs.StringVar(&f.TokenFile, "token_file", "", "`path` of the token; default is a generated one in -root_dir")
	fs.StringVar(&f.TLSCertFile, "tls_cert_file", "", "`path` of the certificate of the info server, PEM, followed by those that signed it")
	fs.StringVar(&f.TLSKeyFile, "tls_private_key_file", "", "`path` of its private key, PEM")
	fs.IntVar(&s.CAdvisorPort, "cadvisor_port", 4194, "`port` of a cAdvisor on this host, for statistics; 0 for none")

	begin("The program")
	fs.BoolVar(&f.ExitOnLockContention, "exit_on_lock_contention", false, "wait for the -root_dir at the start, and exit with 0 when another kubelet14 waits for it")
	fs.Var(&f.Gates, "feature_gates", "`gates` to turn on or off, such as Services=true,AllAlpha=false:"+features.Usage())
	fs.BoolVar(&f.Version, "version", false, "print the version and exit")
	fs.BoolVar(&f.Completion, "completion", false, "print a script for the completion of flags, words and names of pods in bash and exit")
	return topics
}

// joined returns the flags of all topics as one set.
func joined(topics []topic) *flag.FlagSet {
	all := flag.NewFlagSet("kubelet14", flag.ContinueOnError)
	for _, t := range topics {
		t.VisitAll(func(f *flag.Flag) { all.Var(f.Value, f.Name, f.Usage) })
	}
	return all
}
