package validation_test

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"kubelet14/api"
	"kubelet14/api/v1"
	"kubelet14/api/validation"
)

// good uses every field.
const good = `version: v1beta1
id: web.example.com
uuid: 3F2504E0-4f89
volumes:
- name: none
- name: empty
  source: {emptyDir: {}}
- name: host
  source: {hostDir: {path: /data}}
containers:
- name: main
  image: registry:5000/a/b:1.2
  command: [sh, -c, exit]
  workingDir: /srv
  ports:
  - {name: http, containerPort: 80, hostPort: 8080, hostIP: 127.0.0.1}
  - {containerPort: 53, hostPort: 8080, protocol: UDP}
  - {containerPort: 65535}
  env: [{name: A_1, value: "a=b c\n"}, {name: EMPTY}]
  memory: 6291456
  cpu: 256000
  volumeMounts: [{name: empty, mountPath: /a}, {name: host, mountPath: /a/b, readOnly: true}]
  livenessProbe: {httpGet: {port: http}, initialDelaySeconds: 2147483647}
  lifecycle: {postStart: {httpGet: {path: /started}}, preStop: {exec: {command: [bye]}}}
  terminationMessagePath: /dev/log
  privileged: true
  imagePullPolicy: PullNever
- {name: plain, image: "b@sha256:0000000000000000000000000000000000000000000000000000000000000000"}
restartPolicy: {onFailure: {}}
`

// The most common mistakes are in config/testdata/manifests.
func TestValidateManifest(t *testing.T) {
	const (
		first, second = "containers[0].", "containers[1]."
		other         = "- {name: plain, " // the second container
		get           = "{httpGet: {port: http}, initialDelaySeconds: 2147483647}"
		port          = "{containerPort: 65535}"
		mount         = "{name: host, mountPath: /a/b, readOnly: true}"
		taken         = second + "ports[0].hostPort: duplicate value '8080'"
	)
	rows{
		"nothing":            {"", "", ""},
		"volume without one": {"name: none", "source: {emptyDir: {}}", "volumes[0].name: required value ''"},
		"volume twice":       {"name: none", "name: host", "volumes[2].name: duplicate value 'host'"},
		"no hostDir":         {"path: /data", "", "volumes[2].source.hostDir.path: required value ''"},

		"no name":                 {"name: main\n  ", "", first + "name: required value ''"},
		"no image":                {"registry:5000/a/b:1.2", `""`, first + "image: required value ''"},
		"image id":                {"registry:5000/a/b:1.2", strings.Repeat("a", 64), first + "image: invalid value '" + strings.Repeat("a", 64) + "'"},
		"relative workingDir":     {"/srv", "srv", first + "workingDir: invalid value 'srv'"},
		"relative message":        {"/dev/log", "log", first + "terminationMessagePath: invalid value 'log'"},
		"message on the root":     {"/dev/log", "/a/..", first + "terminationMessagePath: invalid value '/a/..'"},
		"too little memory":       {"memory: 6291456", "memory: 6291455", first + "memory: invalid value '6291455'"},
		"too much cpu":            {"cpu: 256000", "cpu: 256001", first + "cpu: invalid value '256001'"},
		"variable without a name": {"{name: EMPTY}", "{value: a}", first + "env[1].name: required value ''"},

		"mount without a name": {mount, "{mountPath: /b}", first + "volumeMounts[1].name: required value ''"},
		"mount without a path": {mount, "{name: host}", first + "volumeMounts[1].mountPath: required value ''"},
		"mount with a colon":   {mount, "{name: host, mountPath: '/b:ro'}", first + "volumeMounts[1].mountPath: invalid value '/b:ro'"},
		"mount on the root":    {mount, "{name: host, mountPath: /a/..}", first + "volumeMounts[1].mountPath: invalid value '/a/..'"},
		"same path":            {mount, "{name: host, mountPath: /a/}", first + "volumeMounts[1].mountPath: duplicate value '/a/'"},
		"same volume":          {mount, "{name: empty, mountPath: /b}", ""},
		"message's path":       {mount, "{name: empty, mountPath: /dev/log/}", first + "volumeMounts[1].mountPath: duplicate value '/dev/log/'"},
		"its default": {other, other + "volumeMounts: [{name: empty, mountPath: /dev/termination-log}], ",
			second + "volumeMounts[0].mountPath: duplicate value '/dev/termination-log'"},

		"same port's name":   {port, "{name: http, containerPort: 1}", first + "ports[2].name: duplicate value 'http'"},
		"no containerPort":   {port, "{}", first + "ports[2].containerPort: invalid value '0'"},
		"big containerPort":  {port, "{containerPort: 65536}", first + "ports[2].containerPort: invalid value '65536'"},
		"negative ports":     {port, "{containerPort: -1, hostPort: -1}", first + "ports[2].containerPort: invalid value '-1'\n" + first + "ports[2].hostPort: invalid value '-1'"},
		"protocol":           {port, "{containerPort: 1, protocol: ICMP}", first + "ports[2].protocol: unsupported value 'ICMP'"},
		"hostIP":             {port, "{containerPort: 1, hostIP: localhost}", first + "ports[2].hostIP: invalid value 'localhost'"},
		"hostIP with a zone": {port, "{containerPort: 1, hostIP: 'fe80::1%eth0'}", first + "ports[2].hostIP: invalid value 'fe80::1%eth0'"},

		// The good manifest has 8080 of TCP on 127.0.0.1 and 8080 of UDP everywhere.
		"same address":           {other, other + "ports: [{containerPort: 80, hostPort: 8080, hostIP: 127.0.0.1}], ", taken},
		"same address otherwise": {other, other + "ports: [{containerPort: 80, hostPort: 8080, hostIP: '::ffff:127.0.0.1'}], ", taken},
		"every address":          {other, other + "ports: [{containerPort: 80, hostPort: 8080}], ", taken},
		"every IPv6 address":     {other, other + "ports: [{containerPort: 80, hostPort: 8080, hostIP: '::'}], ", taken},
		"another address":        {other, other + "ports: [{containerPort: 80, hostPort: 8080, hostIP: 127.0.0.2}], ", ""},
		"UDP, taken everywhere":  {other, other + "ports: [{containerPort: 80, hostPort: 8080, hostIP: 127.0.0.2, protocol: UDP}], ", taken},
		"not published":          {other, other + "ports: [{containerPort: 8080}], ", ""},

		"probe with two":           {get, "{exec: {command: [a]}, httpGet: {port: 80}}", first + "livenessProbe: invalid value 'httpGet, exec'"},
		"probe without a command":  {get, "{exec: {}}", first + "livenessProbe.exec.command: required value ''"},
		"httpGet without a port":   {get, "{httpGet: {}}", first + "livenessProbe.httpGet.port: required value ''"},
		"httpGet with a bad path":  {get, "{httpGet: {path: /%zz, port: 80}}", first + "livenessProbe.httpGet.path: invalid value '/%zz'"},
		"tcpSocket without a port": {get, "{tcpSocket: {}}", first + "livenessProbe.tcpSocket.port: required value ''"},
		"port in quotes":           {get, "{tcpSocket: {port: '80'}}", ""},
		"big port":                 {get, "{tcpSocket: {port: 65536}}", first + "livenessProbe.tcpSocket.port: invalid value '65536'"},
		"unknown port":             {get, "{tcpSocket: {port: https}}", first + "livenessProbe.tcpSocket.port: not found 'https'"},
		"endless delay":            {"2147483647", "2147483648", first + "livenessProbe.initialDelaySeconds: invalid value '2147483648'"},
		"hook without an action":   {"preStop: {exec: {command: [bye]}}", "preStop: {}", first + "lifecycle.preStop: required value ''"},
	}.check(t, good, first+"privileged: forbidden 'true'")
}

// rows each replace one piece of a good manifest.
type rows map[string]struct{ piece, by, want string }

// check checks the problems of each row: they have the paths of the manifest and point at the replaced piece. Without
// -allow_privileged and with defaults there is one problem more, the given one.
func (rows rows) check(t *testing.T, good, privileged string) {
	t.Helper()
	for name, tt := range rows {
		text := strings.Replace(good, tt.piece, tt.by, 1)
		// problems returns each problem as "field: kind 'value'", without the advice, on lines of their own.
		problems := func(check func(api.Document) api.Mistakes) string {
			var lines []string
			_, err := v1.NewScheme().Decode("f", []byte(text), check)
			source, _ := errors.AsType[*api.SourceError](err)
			for _, p := range cmp.Or(source, &api.SourceError{}).Mistakes {
				problem, _, advice := strings.Cut(p.Text, "': ")
				if advice {
					problem += "'"
				}
				lines = append(lines, p.Field+": "+problem)
				if line := strings.Split(text, "\n")[p.Line-1]; tt.want != "" && !strings.Contains(line, strings.TrimSpace(tt.by)) {
					t.Errorf("%s: the error points at %s", name, line)
				}
			}
			return strings.Join(lines, "\n")
		}
		diff := gocmp.Diff(tt.want, problems(validation.Rules{AllowPrivileged: true}.Validate))
		if diff != "" || tt.piece != "" && text == good {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		withDefaults := func(doc api.Document) api.Mistakes {
			api.SetDefaults(doc.Manifest)
			return validation.Rules{}.Validate(doc)
		}
		if tt.want == "" && problems(withDefaults) != privileged {
			t.Errorf("%s, without -allow_privileged and with defaults: %s", name, problems(withDefaults))
		}
	}
}

func TestProblemsOfAPodInWords(t *testing.T) {
	long := strings.Repeat("é", 200)
	manifest := api.ContainerManifest{
		Version: "v2", ID: long, UUID: "a_b", Namespace: "a.b", Containers: []api.Container{
			{Name: "A_B"}, {Name: "A_B", Image: "a"},
		},
	}
	const name = "use a-z, 0-9, and '-' except at the ends; at most 63 characters"
	const subdomain = "use a-z, 0-9, and '-' and '.' except at the ends; at most 253 characters, 63 between dots"
	want := []string{
		"version: unsupported value 'v2': use v1, v1beta1 or v1beta2",
		"id: invalid value '" + long[:200] + "…': " + subdomain,
		"uuid: invalid value 'a_b': use A-Z, a-z, 0-9 and '-', at most 63 characters",
		"namespace: invalid value 'a.b': " + name,
		"containers[0].name: invalid value 'A_B': " + name,
		"containers[0].image: required value '': use a name such as example.com/team/server:1.2",
		"containers[1].name: invalid value 'A_B': " + name,
	}
	if diff := gocmp.Diff(strings.Join(want, "; "), validation.Rules{}.ValidateManifest(&manifest).Error()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestNames(t *testing.T) {
	always := []string{"", " ", "a b", "a ", "a\n", "a\x00", "é"}
	label, domain := strings.Repeat("a", 63), strings.Repeat("a.", 126)+"a" // 253 characters
	for field, tt := range map[string]struct {
		set       func(m *api.ContainerManifest, name string)
		good, bad string // separated by blanks
	}{
		"volumes[0].name": {func(m *api.ContainerManifest, name string) { m.Volumes = []api.Volume{{Name: name}} },
			"a ab abc a1 a-1 a--1--2--b 0 01 012 1a 1-a 1--a--b--2 " + label,
			"A ABC aBc A1 - a- -a 1- -1 _ a_ _a a_b 1_ _1 . a. .a a.b 1. .1 1.2 ../a a" + label},
		"id": {func(m *api.ContainerManifest, name string) { m.ID = name },
			"a ab 0 01 a-1 a.a ab.a ab.c a1.c1 a-1.c 0.a 0.1.2 a.b.c.d.e aa.bb.cc.dd.ee " + domain,
			"A a.B . a. .a a..b -a a- a.-b a-.b _ a_b a.b_c 1. .1 a.b.c. ../.. a." + domain},
		"containers[0].env[0].name": {func(m *api.ContainerManifest, name string) {
			m.Containers = []api.Container{{Name: "a", Image: "a", Env: []api.EnvVar{{Name: name}}}}
		}, "a ab A AB a1 _a a_ a_b _1 _ __ abcABC_09", "1 1a - a- a-b -a . a.b a=b $a"},
		"uuid": {func(m *api.ContainerManifest, name string) { m.UUID = name },
			"a A 0 3f2504e0-4f89-11d3-9a0c-0305e82c3301 a-B-0 " + label, "a_b a.b . .. ../a a/b a" + label},
	} {
		problems := func(name string) api.Mistakes {
			m := api.ContainerManifest{Version: "v1beta1"}
			tt.set(&m, name)
			return validation.Rules{}.ValidateManifest(&m)
		}
		for _, name := range strings.Fields(tt.good) {
			if errs := problems(name); len(errs) > 0 {
				t.Errorf("%s %q: %v", field, name, errs)
			}
		}
		for _, name := range append(strings.Fields(tt.bad), always...) {
			optional := name == "" && (field == "id" || field == "uuid")
			if errs := problems(name); !optional && (len(errs) != 1 || errs[0].Field != field) {
				t.Errorf("%s %q: %v", field, name, errs)
			}
		}
	}
}

// A check that compares every port with every other one runs into the time limit of go test.
func TestManyAddressesOfOnePort(t *testing.T) {
	c := api.Container{Name: "a", Image: "a"}
	for i := range 100_000 {
		c.Ports = append(c.Ports, api.Port{ContainerPort: 1, HostPort: 1, HostIP: fmt.Sprintf("1.%d.%d.%d", i>>16, i>>8&255, i&255)})
	}
	m := api.ContainerManifest{Version: "v1beta1", Containers: []api.Container{c}}
	if errs := (validation.Rules{}).ValidateManifest(&m); len(errs) > 0 {
		t.Errorf("%v", errs)
	}
	m.Containers[0].Ports[0].HostIP = ""
	if errs := (validation.Rules{}).ValidateManifest(&m); len(errs) != 51 {
		t.Errorf("one port takes every address, and there are %d problems", len(errs))
	}
}

// goodPod uses every field that manifests of 2014 do not have.
const goodPod = `apiVersion: v1
kind: Pod
metadata: {name: web.a, namespace: shop, uid: u1, labels: {app.example/name: web}, annotations: {note: "any text"}}
spec:
  terminationGracePeriodSeconds: 0
  hostNetwork: true
  hostname: web-1
  activeDeadlineSeconds: 60
  hostAliases: [{ip: "::1", hostnames: [a.b]}]
  dnsConfig: {nameservers: [1.1.1.1], searches: [example], options: [{name: ndots, value: "2"}, {name: rotate}]}
  dnsPolicy: None
  volumes:
  - {name: host, hostPath: {path: /data, type: DirectoryOrCreate}}
  - {name: empty}
  initContainers:
  - {name: first, image: a}
  - {name: second, image: a, restartPolicy: Always, ports: [{containerPort: 82}], lifecycle: {}, livenessProbe: {exec: {command: [a]}}}
  containers:
  - name: main
    image: a
    command: [/bin/sh]
    args: [-c, exit]
    ports: [{name: http, containerPort: 80, hostPort: 80}]
    env: [{name: IP, valueFrom: {fieldRef: {apiVersion: v1, fieldPath: status.podIP}}}, {name: M, valueFrom: {resourceFieldRef: {resource: limits.memory, divisor: 1Mi}}}]
    resources: {limits: {cpu: 1.5, memory: 64Mi}, requests: {cpu: 250m}}
    livenessProbe: {httpGet: {port: http, scheme: HTTPS, httpHeaders: [{name: X-A, value: b}]}, periodSeconds: 1, successThreshold: 1}
    startupProbe: {tcpSocket: {port: 80}, failureThreshold: 30, timeoutSeconds: 2}
    readinessProbe: {exec: {command: [ready]}, successThreshold: 3}
    lifecycle: {preStop: {httpGet: {port: 80}}}
    terminationMessagePolicy: FallbackToLogsOnError
    securityContext: {privileged: true, runAsUser: 1, runAsGroup: 0, capabilities: {add: [NET_ADMIN], drop: [ALL]}, readOnlyRootFilesystem: true}
`

func TestValidatePodOfToday(t *testing.T) {
	const main = "spec.containers[0]."
	rows{
		"nothing":           {"", "", ""},
		"no name":           {"name: web.a, ", "", "metadata.name: required value ''"},
		"namespace":         {"shop", "a.b", "metadata.namespace: invalid value 'a.b'"},
		"no containers":     {goodPod[strings.Index(goodPod, "  containers"):], "  containers: []\n", "spec.containers: required value ''"},
		"type of a volume":  {"DirectoryOrCreate", "Dir", "spec.volumes[0].hostPath.type: unsupported value 'Dir'"},
		"two kinds":         {"{path: /data, type: DirectoryOrCreate}", "{path: /a}, emptyDir: {}", "spec.volumes[0]: invalid value 'hostDir, emptyDir'"},
		"same name":         {"name: first", "name: main", main + "name: duplicate value 'main'"},
		"init with a probe": {"first, image: a", "first, image: a, lifecycle: {}", "spec.initContainers[0]: forbidden 'first'"},
		"port of an init":   {"first, image: a", "first, image: a, ports: [{containerPort: 80}]", ""},
		"port of a sidecar": {"containerPort: 80, hostPort: 80", "containerPort: 82, hostPort: 82", main + "ports[0].hostPort: duplicate value '82'"},
		"sidecar elsewhere": {"command: [/bin/sh]", "restartPolicy: Always", main + "restartPolicy: forbidden 'Always'"},
		"port of the host":  {"hostPort: 80}", "hostPort: 80}, {containerPort: 80}", main + "ports[1].hostPort: duplicate value '80'"},
		"hostPort":          {"hostPort: 80", "hostPort: 81", main + "ports[0].hostPort: invalid value '81'"},
		"variable":          {"name: IP", "name: discovery.type-1", ""},
		"fieldPath":         {"status.podIP", "status.phase", main + "env[0].valueFrom.fieldRef.fieldPath: unsupported value 'status.phase'"},
		"resource":          {"limits.memory", "limits.disk", main + "env[1].valueFrom.resourceFieldRef.resource: unsupported value 'limits.disk'"},
		"its divisor":       {"1Mi", "-1", main + "env[1].valueFrom.resourceFieldRef.divisor: invalid value '-1'"},
		"its container":     {"{resource:", "{containerName: other, resource:", main + "env[1].valueFrom.resourceFieldRef.containerName: not found 'other'"},
		"of no container":   {"{name: empty}", "{name: own, downwardAPI: {items: [{path: cpu, resourceFieldRef: {resource: requests.cpu, divisor: 1m}}]}}", "spec.volumes[1].downwardAPI.items[0].resourceFieldRef.containerName: required value ''"},
		"two of them":       {"{name: empty}", "{name: own, downwardAPI: {items: [{path: cpu, fieldRef: {fieldPath: metadata.name}, resourceFieldRef: {containerName: main, resource: requests.cpu, divisor: 1m}}]}}", "spec.volumes[1].downwardAPI.items[0].resourceFieldRef: invalid value 'requests.cpu'"},
		"memory":            {"64Mi", "6M", main + "resources.limits.memory: invalid value '6000000'"},
		"cpu":               {"1.5", "0.1m", ""},
		"much cpu":          {"1.5", "1000001", main + "resources.limits.cpu: invalid value '1000001000'"},
		"negative cpu":      {"1.5", "-1m", main + "resources.limits.cpu: invalid value '-1'"},
		"too much cpu":      {"250m", "1k", main + "resources.requests.cpu: invalid value '1000000'"},
		"scheme":            {"HTTPS", "FTP", main + "livenessProbe.httpGet.scheme: unsupported value 'FTP'"},
		"header":            {"X-A", "X A", main + "livenessProbe.httpGet.httpHeaders[0].name: invalid value 'X A'"},
		"period":            {"periodSeconds: 1", "periodSeconds: -1", main + "livenessProbe.periodSeconds: invalid value '-1'"},
		"successes":         {"successThreshold: 1", "successThreshold: 2", main + "livenessProbe.successThreshold: invalid value '2'"},
		"startup probe":     {"failureThreshold: 30", "successThreshold: 2", main + "startupProbe.successThreshold: invalid value '2'"},
		"readiness probe":   {"[ready]", "[]", main + "readinessProbe.exec.command: required value ''"},
		"gRPC":              {"tcpSocket: {port: 80}", "grpc: {port: 80, service: a.b}", ""},
		"port of gRPC":      {"tcpSocket: {port: 80}", "grpc: {}", main + "startupProbe.grpc.port: invalid value '0'"},
		"message policy":    {"FallbackToLogsOnError", "Logs", main + "terminationMessagePolicy: unsupported value 'Logs'"},
		"user":              {"runAsUser: 1", "runAsUser: -1", main + "securityContext.runAsUser: invalid value '-1'"},
		"group alone":       {"runAsUser: 1, ", "", main + "securityContext.runAsUser: required value ''"},
		"grace":             {"Seconds: 0", "Seconds: -1", "spec.terminationGracePeriodSeconds: invalid value '-1'"},
		"deadline":          {"Seconds: 60", "Seconds: 0", "spec.activeDeadlineSeconds: invalid value '0'"},
		"late deadline":     {"Seconds: 60", "Seconds: 2147483648", "spec.activeDeadlineSeconds: invalid value '2147483648'"},
		"hostname":          {"web-1", "web.1", "spec.hostname: invalid value 'web.1'"},
		"alias's ip":        {`"::1"`, "localhost", "spec.hostAliases[0].ip: invalid value 'localhost'"},
		"alias's name":      {"[a.b]", "[a, A]", "spec.hostAliases[0].hostnames[1]: invalid value 'A'"},
		"resolver's option": {"name: ndots, ", "", "spec.dnsConfig.options[0].name: required value ''"},
		"nameserver":        {"1.1.1.1", "dns", "spec.dnsConfig.nameservers[0]: invalid value 'dns'"},
	}.check(t, goodPod, main+"securityContext.privileged: forbidden 'true'")
}

// A part of a volume can be mounted if no container can write above it, by whatever name it mounts the volume.
func TestValidateParts(t *testing.T) {
	const good = `{apiVersion: v1, kind: Pod, metadata: {name: parts}, spec: {volumes: [{name: empty}, ` +
		`{name: claim, persistentVolumeClaim: {claimName: data}}, {name: same, persistentVolumeClaim: {claimName: data}}, {name: host, hostPath: {path: /srv}}], ` +
		`initContainers: [{name: init, image: a, volumeMounts: [{name: empty, mountPath: /all}]}], ` +
		`containers: [{name: one, image: a, securityContext: {privileged: true}, volumeMounts: [{name: claim, mountPath: /a, subPath: db/main}, ` +
		`{name: empty, mountPath: /b, subPath: b}, {name: host, mountPath: /h, readOnly: true, subPath: h}]}, ` +
		`{name: two, image: a, volumeMounts: [{name: same, mountPath: /c, subPath: db/main}, {name: claim, mountPath: /d, readOnly: true}]}]}}`
	const (
		same  = "{name: same, mountPath: /c, subPath: db/main}"
		other = "{name: claim, mountPath: /d, readOnly: true}"
		main  = "spec.containers[0].volumeMounts[0].subPath: forbidden 'db/main'"
	)
	rows{
		"nothing":             {"", "", ""},
		"all of the claim":    {same, "{name: same, mountPath: /c}", main},
		"a directory above":   {same, "{name: same, mountPath: /c, subPath: ./db//}", main},
		"one beside":          {same, "{name: same, mountPath: /c, subPath: db/mai}", ""},
		"one below":           {same, "{name: same, mountPath: /c, subPath: db/main/x}", "spec.containers[1].volumeMounts[0].subPath: forbidden 'db/main/x'"},
		"a claim read only":   {"{claimName: data}}, {name: host", "{claimName: data, readOnly: true}}, {name: host", ""},
		"all of the emptyDir": {other, "{name: empty, mountPath: /d}", "spec.containers[0].volumeMounts[1].subPath: forbidden 'b'"},
		"all of the hostPath": {other, "{name: host, mountPath: /d}", "spec.containers[0].volumeMounts[2].subPath: forbidden 'h'"},
		"a writable hostPath": {"readOnly: true, subPath: h", "subPath: h", "spec.containers[0].volumeMounts[2].subPath: forbidden 'h'"},
		"a sidecar":           {"{name: init, ", "{name: init, restartPolicy: Always, ", "spec.containers[0].volumeMounts[1].subPath: forbidden 'b'"},
		"outside":             {"subPath: b", "subPath: ../b", "spec.containers[0].volumeMounts[1].subPath: invalid value '../b'"},
	}.check(t, good, "spec.containers[0].securityContext.privileged: forbidden 'true'")
}
