package docs

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// operatorsPod has the volume, the server and the hook that the commands of operators.md need. Its hook writes a file
// when it is stopped.
const operatorsPod = `apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  volumes: [{name: data, emptyDir: {}}]
  containers:
    - name: server
      image: "try-%[1]d/server:1.2"
      command: [/hello, serve]
      volumeMounts: [{name: data, mountPath: /data}]
      lifecycle: {preStop: {exec: {command: [/hello, append, -for, 0s, /data/stops, stop]}}}
`

// operatorsHost imitates a host with the service of operators.md.
const operatorsHost = `
PATH=$PWD:$PATH
docker tag kubelet14/hello:1 try-%[1]d/server:1.2
kubelet14() { # with the flags of this kubelet, behind a word
	local word; [[ $1 = -* ]] || { word=$1; shift; }
	command kubelet14 $word -hostname_override=try-%[1]d -port=%[2]d17 "$@"
}
systemctl() { # start or stop
	if [ $1 = stop ]; then kill $kubelet; wait $kubelet; return; fi
	$KUBELET -v=2 2>>/tmp/try-%[1]d/log & kubelet=$!
}
is_up() { until [ "$(c web server)" ] && kubelet14 ps >/dev/null 2>&1; do sleep 0.1; done; }
systemctl start
logged 'web.default.file is up'
`

// afterwards has, by words of a command, a script that runs it and checks its effect.
var afterwards = []struct{ words, run string }{
	{"14 ps", `%s | grep '^web.default.file *running *yes'`},
	{"describe", `%s | grep 'server *created *attempt 1'`},
	{"logs web -c server -p", `docker stop $(c web server); is_up; %s | grep serving`},
	{"/status", `%s | grep '^web.default.file *running *yes'`},
	{"logs web -f", `%s >/tmp/try/followed & until grep serving /tmp/try/followed; do sleep 0.1; done`},
	{"exec -it", `%s | grep ^HOSTNAME=web`},
	{"docker run", `%s | grep ^HOSTNAME=`},
	{"top", `%s | grep '^  server *[0-9]*m .*B'`},
	{"du -sh", `%s | grep K`},
	{"check", `%s | grep '^1 pod in 1 file: all are taken'`},
	{"diff", `%s | grep '^pod web.default.file'`},
	{"docker stop $(c", `old=$(c web server); %s; is_up; [ $(c web server) != $old ]`},
	{"restart web", `old=$(c web server)$(c web net); %s | grep 'is running'; [ $(c web server)$(c web net) != $old ]; grep stop $(volumes web)/*/data/stops`},
	{"docker pull", `docker commit --change 'LABEL of=new' $(c web server) $image
		old=$(c web server); %s; [ "$(c web server)" != $old ]; docker inspect $(c web server) | grep '"of": "new"'`},
	{"stop web", `%s; [ -z "$(c web '.*')" ]; kubelet14 ps | grep 'stopped by'; cp $data/*/data/stops /tmp/try/stops`},
	{"-delete", `%s; ls $data/*; [ -z "$(ls $data/*/data)" ]`},
	{"-xzf", `%s; cmp /tmp/try/stops $data/*/data/stops`},
	{"start web", `%s; is_up; cmp /tmp/try/stops $(volumes web)/*/data/stops`},
	{"stop -t 60", `%s; [ -z "$(c web server)" ]`},
	{"start kubelet14", `%s; is_up; cmp /tmp/try/stops $(volumes web)/*/data/stops`},
}

// operator runs the commands of operators.md in order, and checks what each does to a pod.
func (r *reader) operator(t *testing.T) {
	p, left := readPage(t, filepath.Join(r.dir, "docs/operators.md")), afterwards
	blocks := p.marked("sh run")
	port, dir := 80+r.student, fmt.Sprintf("/tmp/try-%d", r.student)
	t.Cleanup(func() { exec.Command("docker", "rmi", "-f", fmt.Sprintf("try-%d/server:1.2", r.student)).Run() })
	script := "set -euo pipefail\n" + r.prepare(t) + blocks[0].body + fmt.Sprintf("cat >/tmp/try/pods/web.yaml <<'END'\n"+operatorsPod+"END\n", r.student) +
		fmt.Sprintf(operatorsHost, r.student, port) + fmt.Sprintf("image=try-%d/server:1.2\n", r.student)
	for line := range strings.Lines(blocks[1].body) {
		command, _, _ := strings.Cut(strings.TrimSpace(line), "  #")
		if len(left) > 0 && strings.Contains(command, left[0].words) {
			command, left = fmt.Sprintf(left[0].run, strings.TrimSpace(command)), left[1:]
		}
		script += command + "\n"
	}
	script += "systemctl stop kubelet14\n$KUBELET -cleanup\n"
	out := r.bash(t, strings.NewReplacer(
		"/etc/kubelet14/pods", dir+"/pods", "/var/lib/kubelet14", dir+"/root", ":10250", fmt.Sprintf(":%d17", port), "/root/web.tgz", dir+"/web.tgz",
		"docker pull example.com/team/server:1.2", "true", " -it ", " -i ", "alpine sh", "kubelet14/hello:1 /hello env", ") sh\n", ") /hello env\n",
		"-- sh ", "-- /hello env ", ") sh ", ") /hello env ", "/tmp/try/", dir+"/",
	).Replace(script))
	if len(left) > 0 {
		t.Errorf("the page lacks a command with %q, here or at all", left[0].words)
	}
	r.checkPrinted(t, p, out)
}
