package validation_test

import (
	"strings"
	"testing"
)

// goodPod uses every field that manifests of 2014 do not have.
const goodPod = `apiVersion: v1
kind: Pod
metadata: {name: web.a, namespace: shop, uid: u1, labels: {app.example/name: web}, annotations: {note: "any text"}}
spec:
  terminationGracePeriodSeconds: 0
  hostNetwork: true
  hostname: web-1
  hostAliases: [{ip: "::1", hostnames: [a.b]}]
  dnsConfig: {nameservers: [1.1.1.1], searches: [example], options: [{name: ndots, value: "2"}, {name: rotate}]}
  dnsPolicy: None
  volumes:
  - {name: host, hostPath: {path: /data, type: DirectoryOrCreate}}
  - {name: empty}
  initContainers:
  - {name: first, image: a}
  containers:
  - name: main
    image: a
    command: [/bin/sh]
    args: [-c, exit]
    ports: [{name: http, containerPort: 80, hostPort: 80}]
    env: [{name: IP, valueFrom: {fieldRef: {apiVersion: v1, fieldPath: status.podIP}}}]
    resources: {limits: {cpu: 1.5, memory: 64Mi}, requests: {cpu: 250m}}
    livenessProbe: {httpGet: {port: http, scheme: HTTPS, httpHeaders: [{name: X-A, value: b}]}, periodSeconds: 1, successThreshold: 1}
    startupProbe: {tcpSocket: {port: 80}, failureThreshold: 30, timeoutSeconds: 2}
    readinessProbe: {exec: {command: [ready]}, successThreshold: 3}
    lifecycle: {preStop: {httpGet: {port: 80}}}
    terminationMessagePolicy: FallbackToLogsOnError
    securityContext: {privileged: true, runAsUser: 1, runAsGroup: 0, capabilities: {add: [NET_ADMIN], drop: [ALL]}, readOnlyRootFilesystem: true}
`

func TestValidatePod(t *testing.T) {
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
		"port of the host":  {"hostPort: 80}", "hostPort: 80}, {containerPort: 80}", main + "ports[1].hostPort: duplicate value '80'"},
		"hostPort":          {"hostPort: 80", "hostPort: 81", main + "ports[0].hostPort: invalid value '81'"},
		"fieldPath":         {"status.podIP", "status.phase", main + "env[0].valueFrom.fieldRef.fieldPath: unsupported value 'status.phase'"},
		"memory":            {"64Mi", "6M", main + "resources.limits.memory: invalid value '6000000'"},
		"cpu":               {"1.5", "9.1m", ""},
		"too little cpu":    {"1.5", "9m", main + "resources.limits.cpu: invalid value '9'"},
		"too much cpu":      {"250m", "1k", main + "resources.requests.cpu: invalid value '1000000'"},
		"scheme":            {"HTTPS", "FTP", main + "livenessProbe.httpGet.scheme: unsupported value 'FTP'"},
		"header":            {"X-A", "X A", main + "livenessProbe.httpGet.httpHeaders[0].name: invalid value 'X A'"},
		"period":            {"periodSeconds: 1", "periodSeconds: -1", main + "livenessProbe.periodSeconds: invalid value '-1'"},
		"successes":         {"successThreshold: 1", "successThreshold: 2", main + "livenessProbe.successThreshold: invalid value '2'"},
		"startup probe":     {"failureThreshold: 30", "successThreshold: 2", main + "startupProbe.successThreshold: invalid value '2'"},
		"readiness probe":   {"[ready]", "[]", main + "readinessProbe.exec.command: required value ''"},
		"message policy":    {"FallbackToLogsOnError", "Logs", main + "terminationMessagePolicy: unsupported value 'Logs'"},
		"user":              {"runAsUser: 1", "runAsUser: -1", main + "securityContext.runAsUser: invalid value '-1'"},
		"group alone":       {"runAsUser: 1, ", "", main + "securityContext.runAsUser: required value ''"},
		"capability":        {"[NET_ADMIN]", "[ALL, NET]", main + "securityContext.capabilities.add[1]: unsupported value 'NET'"},
		"no capability":     {"drop: [ALL]", "drop: [all]", main + "securityContext.capabilities.drop[0]: unsupported value 'all'"},
		"grace":             {"Seconds: 0", "Seconds: -1", "spec.terminationGracePeriodSeconds: invalid value '-1'"},
		"hostname":          {"web-1", "web.1", "spec.hostname: invalid value 'web.1'"},
		"alias's ip":        {`"::1"`, "localhost", "spec.hostAliases[0].ip: invalid value 'localhost'"},
		"alias's name":      {"[a.b]", "[a, A]", "spec.hostAliases[0].hostnames[1]: invalid value 'A'"},
		"nameserver":        {"1.1.1.1", "dns", "spec.dnsConfig.nameservers[0]: invalid value 'dns'"},
	}.check(t, goodPod, main+"securityContext.privileged: forbidden 'true'")
}
