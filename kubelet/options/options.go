// Package options has the settings of the program: the flags with their defaults, checks and help, and where the log
// goes. Upstream: cmd/kubelet/app/options.
//
// Each setting stands in one place: topics declares its flag with the default, and -h and -completion are made from that;
// the tag of its field in KubeletConfiguration names the flag that the field sets. A test compares the operators' page with both.
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

// Parse reads and checks the command line of the program of this version. For -h, -version and -completion it prints
// what they ask for, and returns flag.ErrHelp.
func Parse(version string, args []string) (*Options, error) {
	f := &Options{}
	topics := f.topics()
	all, logs := joined(topics), flag.CommandLine // the log's are glog's
	all.SetOutput(io.Discard)                     // main prints the error
	logs.Set("logtostderr", "true")               // else glog writes to files only
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
		printHelp(topics, logs)
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
		{meant != "", fmt.Sprintf("unexpected argument %q: did you mean %s?", args, meant)},
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
		{asksServer && !f.EnableServer, "-status and words such as kubelet14 ps ask the info server, which -enable_server=false turns off"},
		{asksServer && s.Port == 0 && !strings.HasPrefix(s.Address, "unix:"), "-status and words such as kubelet14 ps need the -port: the kubelet picked one, which is in its log"},
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
