package client

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/dockertools/dockertest"
)

// fakeHello plays the program of manifests/hello as far as the contract runs it.
func fakeHello(spec dockertools.ContainerSpec) dockertest.Program {
	argv := append(slices.Clone(spec.Entrypoint), spec.Command...)
	if argv[0] != "/hello" {
		return dockertest.Program{Missing: true}
	}
	p := dockertest.Program{Exec: func(command []string) dockertest.ExecOutcome { return execHello(spec, command) }}
	for i, arg := range argv {
		switch arg {
		case "-ignore-term":
			p.IgnoreTerm = true
		case "-exit-on-term":
			p.TermCode, _ = strconv.Atoi(argv[i+1])
		}
	}
	last := argv[len(argv)-1]
	switch argv[1] {
	case "exit":
		p.Exits = true
		p.ExitCode, _ = strconv.Atoi(last)
	case "flood":
		p.Exits = true
		p.Log = flood(last)
	case "serve":
		p.Log = "serving on [::]:" + last + "\n"
		p.StopLog = "hello: asked to stop: terminated\n"
	case "append":
		if err := appendInMount(spec.Mounts, argv[len(argv)-2], last+"\n"); err != nil {
			p.Exits, p.ExitCode = true, 1
		}
	}
	return p
}

// execHello plays the program when it is run in a container that runs.
func execHello(spec dockertools.ContainerSpec, command []string) dockertest.ExecOutcome {
	last := command[len(command)-1]
	switch {
	case command[0] != "/hello":
		return dockertest.ExecOutcome{ExitCode: 126, Output: fmt.Sprintf("OCI runtime exec failed: exec: %q: no such file or directory\r\n", command[0])}
	case command[1] == "exit":
		code, _ := strconv.Atoi(last)
		return dockertest.ExecOutcome{ExitCode: code}
	case command[1] == "flood":
		return dockertest.ExecOutcome{Output: flood(last)}
	case command[1] == "cat":
		return dockertest.ExecOutcome{ExitCode: 1, Output: fmt.Sprintf("hello cat: open %s: no such file or directory\n", last)}
	case command[1] == "append":
		if err := appendInMount(spec.Mounts, command[2], last+"\n"); err != nil {
			return dockertest.ExecOutcome{ExitCode: 1, Output: err.Error()}
		}
	}
	return dockertest.ExecOutcome{After: 24 * time.Hour}
}

// flood is so many lines.
func flood(count string) (lines string) {
	n, _ := strconv.Atoi(count)
	for i := range n {
		line := fmt.Sprint(i+1, " ")
		lines += line + strings.Repeat("x", 79-len(line)) + "\n"
	}
	return lines
}

func appendInMount(mounts []dockertools.Mount, path, text string) error {
	for _, m := range mounts {
		if rest, ok := strings.CutPrefix(path, m.ContainerPath+"/"); ok && !m.ReadOnly {
			f, err := os.OpenFile(filepath.Join(m.HostPath, rest), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
			if err != nil {
				return err
			}
			_, err = f.WriteString(text)
			return errors.Join(err, f.Close())
		}
	}
	return errors.New("read-only file system")
}
