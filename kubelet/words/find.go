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

// running returns all of them.
func (c *call) running() (all []running) {
	files, _ := filepath.Glob(filepath.Join(c.Proc, "[0-9]*", "cmdline"))
	for _, file := range files {
		line, _ := os.ReadFile(file)
		argv := strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
		if !strings.HasPrefix(filepath.Base(argv[0]), "kubelet14") {
			continue
		}
		r := running{pid: filepath.Base(filepath.Dir(file))}
		dir, _ := os.Readlink(filepath.Join(filepath.Dir(file), "cwd")) // which only root and its own user may read
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
	return a != nil && b != nil && a.Kubelet.Identity == b.Kubelet.Identity && a.ConfigFile == b.ConfigFile &&
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

// settings returns the settings of the kubelet that is meant, and more: those of the one that runs at the place that the given
// flags name, and otherwise the given ones.
func (c *call) settings(more ...string) (*options.Options, error) {
	all := c.running()
	var meant []running
	for _, r := range all {
		if r.err != nil && len(c.given) == 0 {
			meant = append(meant, r)
		}
		if r.err != nil {
			continue
		}
		f, err := options.Parse(c.Version, slices.Concat(r.args, c.given, more))
		if err != nil {
			return nil, err
		}
		if with := (running{r.pid, nil, f, nil}); with.isSame(r) {
			meant = append(meant, with)
		}
	}
	switch {
	case len(meant) == 1:
		return meant[0].Options, meant[0].err
	case len(meant) > 1:
		text := fmt.Sprintf("%d kubelets run on this host: say which by its -root_dir", len(meant))
		for _, r := range meant {
			text += "\n  " + r.String()
		}
		return nil, errors.New(text)
	case len(c.given) > 0 && len(more) > 0:
		return options.Parse(c.Version, slices.Concat(c.given, more))
	case len(c.given) > 0:
		return options.Parse(c.Version, append(c.given, "-status"))
	}
	return nil, errors.New("no kubelet14 runs on this host: kubelet14 -config=DIRECTORY starts one")
}

// kubelet returns a client of the kubelet that is meant.
func (c *call) kubelet() (*client.Client, error) {
	f, err := c.settings()
	if err != nil {
		return nil, err
	}
	return clientOf(f)
}

func clientOf(f *options.Options) (*client.Client, error) {
	switch {
	case !f.EnableServer:
		return nil, errors.New("the kubelet runs with -enable_server=false, and this asks its info server")
	case f.Server.Port == 0 && !strings.HasPrefix(f.Server.Address, "unix:"):
		return nil, errors.New("the kubelet runs with -port=0: give the -port that is in its log")
	}
	config, err := server.LoadTLS(f.TLSCertFile, f.TLSKeyFile)
	if err != nil {
		return nil, err
	}
	return client.New(f.Server.Address, f.Server.Port, config, f.Server.TokenFile)
}
