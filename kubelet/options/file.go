package options

import (
	"flag"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"kubelet14/api"
	"kubelet14/config"
)

// KubeletConfiguration is the file of -config_file. Each field sets the flag of its tag, so that there is one set of
// defaults and checks. "sep" joins a name in a map and its value, and a relative "path" begins at the directory of the file.
// What belongs to one host or one start is no field.
type KubeletConfiguration struct {
	APIVersion              api.Text `json:"apiVersion"`
	Kind                    api.Text `json:"kind"`
	StaticPodPath           api.Text `json:"staticPodPath" flag:"config" path:"true"`
	StaticPodURL            api.Text `json:"staticPodURL" flag:"manifest_url"`
	SyncFrequency           api.Text `json:"syncFrequency" flag:"sync_frequency"`
	FileCheckFrequency      api.Text `json:"fileCheckFrequency" flag:"file_check_frequency"`
	HTTPCheckFrequency      api.Text `json:"httpCheckFrequency" flag:"http_check_frequency"`
	RegistryPullQPS         api.Text `json:"registryPullQPS" flag:"registry_qps"`
	RegistryBurst           api.Text `json:"registryBurst" flag:"registry_burst"`
	EnableServer            api.Text `json:"enableServer" flag:"enable_server"`
	Address                 api.Text `json:"address" flag:"address"`
	Port                    api.Text `json:"port" flag:"port"`
	TLSCertFile             api.Text `json:"tlsCertFile" flag:"tls_cert_file" path:"true"`
	TLSPrivateKeyFile       api.Text `json:"tlsPrivateKeyFile" flag:"tls_private_key_file" path:"true"`
	EnableDebuggingHandlers api.Text `json:"enableDebuggingHandlers" flag:"enable_debugging_handlers"`
	ContainerLogMaxSize     api.Text `json:"containerLogMaxSize" flag:"container_log_max_size"`
	ContainerLogMaxFiles    api.Text `json:"containerLogMaxFiles" flag:"container_log_max_files"`
	CrashLoopBackOff        struct {
		MaxContainerRestartPeriod api.Text `json:"maxContainerRestartPeriod" flag:"max_restart_backoff"`
	} `json:"crashLoopBackOff"`
	FeatureGates                     map[string]api.Text `json:"featureGates" flag:"feature_gates" sep:"="`
	EvictionHard                     map[string]api.Text `json:"evictionHard" flag:"eviction_hard" sep:"<"`
	EvictionSoft                     map[string]api.Text `json:"evictionSoft" flag:"eviction_soft" sep:"<"`
	EvictionSoftGracePeriod          map[string]api.Text `json:"evictionSoftGracePeriod" flag:"eviction_soft_grace_period" sep:"="`
	EvictionPressureTransitionPeriod api.Text            `json:"evictionPressureTransitionPeriod" flag:"eviction_pressure_transition_period"`
	EvictionMaxPodGracePeriod        api.Text            `json:"evictionMaxPodGracePeriod" flag:"eviction_max_pod_grace_period"`
	ImageGCHighThresholdPercent      api.Text            `json:"imageGCHighThresholdPercent" flag:"image_gc_high_threshold"`
	ImageGCLowThresholdPercent       api.Text            `json:"imageGCLowThresholdPercent" flag:"image_gc_low_threshold"`
	ImageMinimumGCAge                api.Text            `json:"imageMinimumGCAge" flag:"minimum_image_ttl_duration"`
	// Those above are upstream's, and those below flags of this program.
	EtcdServers                       []api.Text `json:"etcdServers" flag:"etcd_servers"`
	EtcdConfig                        api.Text   `json:"etcdConfig" flag:"etcd_config" path:"true"`
	EtcdStatus                        api.Text   `json:"etcdStatus" flag:"etcd_status"`
	ConfigWait                        api.Text   `json:"configWait" flag:"config_wait"`
	NetworkContainerImage             api.Text   `json:"networkContainerImage" flag:"network_container_image"`
	PodNetwork                        api.Text   `json:"podNetwork" flag:"pod_network"`
	AllowPrivileged                   api.Text   `json:"allowPrivileged" flag:"allow_privileged"`
	MaximumDeadContainersPerContainer api.Text   `json:"maximumDeadContainersPerContainer" flag:"maximum_dead_containers_per_container"`
	MinimumContainerTTLDuration       api.Text   `json:"minimumContainerTTLDuration" flag:"minimum_container_ttl_duration"`
	LogQueryUnits                     []api.Text `json:"logQueryUnits" flag:"log_query_units"`
	TokenFile                         api.Text   `json:"tokenFile" flag:"token_file" path:"true"`
	CAdvisorPort                      api.Text   `json:"cadvisorPort" flag:"cadvisor_port"`

	_ api.Ignored `fields:"authentication authorization rotateCertificates serverTLSBootstrap registerNode registerWithTaints providerID"`
	_ api.Ignored `fields:"nodeStatusUpdateFrequency nodeStatusReportFrequency nodeStatusMaxImages nodeLeaseDurationSeconds kubeAPIQPS kubeAPIBurst contentType"`
	_ api.Ignored `fields:"configMapAndSecretChangeDetectionStrategy eventRecordQPS eventBurst clusterDomain clusterDNS resolvConf hairpinMode podCIDR"`
	_ api.Ignored `fields:"makeIPTablesUtilChains iptablesMasqueradeBit iptablesDropBit containerRuntimeEndpoint imageServiceEndpoint runtimeRequestTimeout"`
	_ api.Ignored `fields:"streamingConnectionIdleTimeout podLogsDir containerLogMaxWorkers containerLogMonitorInterval serializeImagePulls maxParallelImagePulls"`
	_ api.Ignored `fields:"imageMaximumGCAge imagePullCredentialsVerificationPolicy preloadedImagesVerificationAllowlist evictionMinimumReclaim"`
	_ api.Ignored `fields:"mergeDefaultEvictionSettings kernelMemcgNotification volumePluginDir volumeStatsAggPeriod enableControllerAttachDetach"`
	_ api.Ignored `fields:"localStorageCapacityIsolation kubeletCgroups systemCgroups cgroupRoot cgroupsPerQOS cgroupDriver failCgroupV1 cpuManagerPolicy"`
	_ api.Ignored `fields:"cpuManagerPolicyOptions cpuManagerReconcilePeriod memoryManagerPolicy reservedMemory topologyManagerPolicy topologyManagerScope"`
	_ api.Ignored `fields:"topologyManagerPolicyOptions qosReserved cpuCFSQuota cpuCFSQuotaPeriod systemReserved kubeReserved reservedSystemCPUs"`
	_ api.Ignored `fields:"systemReservedCgroup kubeReservedCgroup enforceNodeAllocatable maxPods podsPerCore podPidsLimit maxOpenFiles oomScoreAdj"`
	_ api.Ignored `fields:"singleProcessOOMKill failSwapOn memorySwap memoryThrottlingFactor seccompDefault userNamespaces allowedUnsafeSysctls"`
	_ api.Ignored `fields:"protectKernelDefaults readOnlyPort healthzPort healthzBindAddress enableProfilingHandler enableDebugFlagsHandler"`
	_ api.Ignored `fields:"enableContentionProfiling enableSystemLogHandler enableSystemLogQuery showHiddenMetricsForVersion tracing shutdownGracePeriod"`
	_ api.Ignored `fields:"shutdownGracePeriodCriticalPods shutdownGracePeriodByPodPriority logging"`
	// Without these the server would be less safe than it seems.
	_ api.Unsupported `fields:"staticPodURLHeader tlsCipherSuites tlsCurvePreferences tlsMinVersion"`
	_ api.Unsupported `fields:"runOnce" instead:"give -runonce"`
}

// readFile sets the flags that the file names and the command line does not. An error of check about one of them is a
// problem of the file.
func (f *Options) readFile(flags *flag.FlagSet, check func() error) error {
	if f.ConfigFile == "" {
		return nil
	}
	text, _, err := config.ReadFile(f.ConfigFile)
	switch n := len(text); {
	case err != nil:
		return fmt.Errorf("-config_file: %w: it takes a file of kind KubeletConfiguration; manifests are for -config", err)
	case n > 0 && n <= api.MaxManifestBytes && text[n-1] != '\n': // half of a path may be a path
		return fmt.Errorf("-config_file: %s does not end with a newline, so the rest of it may be missing: write all of it, and a newline at the end", f.ConfigFile)
	}
	given, gates := map[string]bool{}, f.Gates.String()
	flags.Visit(func(fl *flag.Flag) { given[strings.ReplaceAll(fl.Name, "-", "_")] = true })
	given["feature_gates"] = false // they are merged gate by gate
	settings, fields := &KubeletConfiguration{}, map[string]string{}
	f.Ignored, err = api.DecodeObject(f.ConfigFile, text, "kubelet.config.k8s.io/v1beta1", settings, func() (problems api.Mistakes) {
		for _, s := range settingsOf("", filepath.Dir(f.ConfigFile), reflect.ValueOf(settings).Elem()) {
			if given[s.flag] {
				continue
			}
			fields[s.flag] = s.field
			if err := flags.Set(s.flag, s.text); err != nil {
				problems.Add(s.field, "invalid value %q: %s", s.text, strings.Replace(err.Error(), "parse error", takes(flags.Lookup(s.flag)), 1))
			}
		}
		f.Gates.Set(gates) // which were taken before
		if err := check(); err != nil && problems == nil {
			for flag, field := range fields {
				if strings.Contains(err.Error(), "-"+flag) {
					problems.Add(field, "%v", err)
				}
			}
		}
		return problems
	})
	return err
}

type setting struct{ field, flag, text string } // field may be a part of one

// settingsOf returns the settings of the fields of a struct, without those that are empty or 0s: encoders write these
// for unset fields.
func settingsOf(path, dir string, obj reflect.Value) (all []setting) {
	for f, value := range obj.Fields() {
		field, flag := path+api.JSONName(f), f.Tag.Get("flag")
		switch f.Type.Kind() {
		case reflect.Struct:
			all = append(all, settingsOf(field+".", dir, value)...)
		case reflect.Map:
			for key, item := range value.Seq2() {
				all = append(all, setting{fmt.Sprintf("%s[%v]", field, key), flag, key.String() + f.Tag.Get("sep") + item.String()})
			}
		case reflect.Slice:
			var texts []string
			for _, item := range value.Seq2() {
				texts = append(texts, item.String())
			}
			all = append(all, setting{field, flag, strings.Join(texts, ",")})
		default:
			text := value.String()
			if f.Tag.Get("path") != "" && text != "" && !filepath.IsAbs(text) {
				text = filepath.Join(dir, text)
			}
			all = append(all, setting{field, flag, text})
		}
	}
	return slices.DeleteFunc(all, func(s setting) bool { return s.flag == "" || s.text == "" || s.text == "0s" })
}
