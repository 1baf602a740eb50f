package words

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"kubelet14/kubelet/client"
	"kubelet14/kubelet/options"
	"kubelet14/kubelet/server"
)

// running is a kubelet that runs on this host, as its command line says.
type running struct {
	pid  string
	args []string // its settings, with absolute paths
	*options.Options
	err error // why the settings are not known
}

// running returns those of root and of the user. Any user can run a program that looks like one, and would get what a word sends.
func (c *call) running() (all []running) {
	processes, _ := filepath.Glob(filepath.Join(c.Proc, "[0-9]*"))
	for _, process := range processes {
		line, _ := os.ReadFile(process + "/cmdline")
		argv := strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
		info, err := os.Stat(process)
		if err != nil || !strings.HasPrefix(filepath.Base(argv[0]), "kubelet14") {
			continue
		}
		if owner := info.Sys().(*syscall.Stat_t).Uid; owner != 0 && owner != uint32(os.Geteuid()) {
			continue
		}
		r := running{pid: filepath.Base(process)}
		dir, err := os.Readlink(process + "/cwd")
		if err != nil {
			dir = process + "/cwd" // so that a relative path cannot be read either
		}
		fs := flag.NewFlagSet("", flag.ContinueOnError)
		fs.SetOutput(io.Discard)
		options.Record(fs, dir, &r.args)
		if others, err := options.ParseMixed(fs, argv[1:]); err != nil || len(others) > 0 {
			continue // it does something else than to run on
		}
		r.args = slices.DeleteFunc(r.args, options.IsOfLog)
		if r.Options, r.err = options.Parse(c.Version, r.args); r.err == nil && slices.ContainsFunc(all, r.isSame) {
			continue // it waits for the lock of the other one
		}
		all = append(all, r)
	}
	return all
}

// isSame reports whether two kubelets have the same place. Any port is that of a kubelet which has picked its own.
func (r *running) isSame(other running) bool {
	a, b := r.Options, other.Options
	return other.err == nil && a.Kubelet.Identity == b.Kubelet.Identity && a.ConfigFile == b.ConfigFile &&
		a.Server.Address == b.Server.Address && (a.Server.Port == b.Server.Port || b.Server.Port == 0)
}

func (r *running) String() string {
	if r.err != nil {
		return fmt.Sprintf("pid %s, whose settings cannot be read: %v", r.pid, r.err)
	}
	at := r.Server.Address
	if !strings.HasPrefix(at, "unix:") {
		at = fmt.Sprintf("%s port %d", at, r.Server.Port)
	}
	return fmt.Sprintf("-root_dir=%s (pid %s, hostname %s, %s)", r.Kubelet.Identity.RootDir, r.pid, r.Kubelet.Identity.Hostname, at)
}

// settings returns the settings of the kubelet that runs at the place that the given flags name, or the given ones if none does,
// and more.
func (c *call) settings(more ...string) (*options.Options, error) {
	var meant, unreadable []running
	for _, r := range c.running() {
		if r.err != nil {
			unreadable = append(unreadable, r)
			continue
		}
		args := slices.Concat(r.args, c.given)
		f, err := options.Parse(c.Version, args)
		if err != nil {
			continue // the flags do not go with its settings, so they are not for it
		}
		if with := (running{r.pid, args, f, nil}); with.isSame(r) {
			meant = append(meant, with)
		}
	}
	if c.given == nil || meant == nil {
		meant = append(meant, unreadable...)
	}
	switch {
	case len(meant) == 1:
		return options.Parse(c.Version, append(meant[0].args, more...))
	case len(meant) > 1:
		text := fmt.Sprintf("%d kubelets run on this host: say which by its -root_dir", len(meant))
		for _, r := range meant {
			text += "\n  " + r.String()
		}
		return nil, errors.New(text)
	case c.given != nil:
		return options.Parse(c.Version, slices.Concat(c.given, more))
	}
	return nil, errors.New("no kubelet14 runs on this host as root or as you: kubelet14 -config=DIRECTORY starts one")
}

// kubelet returns a client of the kubelet that is meant.
func (c *call) kubelet() (*client.Client, error) {
	f, err := c.settings("-status", "-step=false")
	if err != nil {
		return nil, err
	}
	return clientOf(f)
}

func clientOf(f *options.Options) (*client.Client, error) {
	config, err := server.LoadTLS(f.TLSCertFile, f.TLSKeyFile)
	if err != nil {
		return nil, err
	}
	return client.New(f.Server.Address, f.Server.Port, config, f.Server.TokenFile)
}
