#!/bin/sh
# install.sh        puts this version of kubelet14 on the host, in place of the one that is there; settings and pods stay.
# install.sh --uninstall   removes the program and its units; pods, settings and data stay.
set -eu
cd "$(dirname "$0")"
program=/usr/local/bin/kubelet14 units=/usr/local/lib/systemd/system
completion=/usr/local/share/bash-completion/completions/kubelet14
settings=/etc/kubelet14 data=/var/lib/kubelet14

fail() { echo "install.sh: $*" >&2; exit 1; }
has_systemd() { [ -d /run/systemd/system ]; }

[ "$(id -u)" = 0 ] || fail "it needs root: sudo $0 $*"
case "$*" in
'') ;;
--uninstall)
	if has_systemd; then systemctl disable --now kubelet14 kubelet14-fleet || true; fi
	rm -f "$program" "$completion" "$units/kubelet14.service" "$units/kubelet14-fleet.service"
	if has_systemd; then systemctl daemon-reload; fi
	echo "kubelet14 is removed. These are left: the pods, which go on running; $settings; $data, with their volumes."
	echo "To remove them too: $PWD/kubelet14 -cleanup -root_dir=$data && rm -r $settings $data"
	exit
	;;
*) fail "it takes no argument but --uninstall" ;;
esac

new=$(./kubelet14 -version) || fail "kubelet14 does not run here: this machine is $(uname -m), and the name of the tarball says for which it is"
old=$([ ! -e "$program" ] || "$program" -version || true)

mkdir -p "${program%/*}" "$units" "${completion%/*}"
install -m 0755 kubelet14 "$program.new"
mv -f "$program.new" "$program"
install -m 0644 kubelet14.bash "$completion"
install -m 0644 kubelet14.service kubelet14-fleet.service "$units"
if [ -e /etc/systemd/system/kubelet14.service ]; then
	echo "/etc/systemd/system/kubelet14.service is yours and stays in force, with its settings: remove it to use $units/kubelet14.service"
else
	mkdir -p "$settings/pods"
	for file in config.yaml fleet.yaml etcd.yaml; do
		if [ -e "$settings/$file" ]; then echo "$settings/$file is kept"; else install -m 0644 $file "$settings"; fi
	done
fi

if ! has_systemd; then
	echo "systemd does not run here. This starts the kubelet: $(sed -n 's/^ExecStart=//p' kubelet14.service)"
else
	systemctl daemon-reload
	if [ "$old" ]; then systemctl try-restart kubelet14 kubelet14-fleet; else systemctl enable --now kubelet14; fi
fi
[ "$old" ] || echo "Put manifests into $settings/pods, and look at their pods with: kubelet14 ps"
echo "$program is ${new#kubelet14 }${old:+; it was ${old#kubelet14 }}"
