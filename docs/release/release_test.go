// Package release has what a release is made of beside the program, and the tests of it.
package release

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"kubelet14/api/unittest"
	"kubelet14/config"
	"kubelet14/kubelet/features"
	"kubelet14/kubelet/options"
)

func TestMain(m *testing.M) { unittest.Main(m) }

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	unittest.Must(t, err)
	return string(text)
}

// parse reads a file of settings as it would be in /etc/kubelet14.
func parse(t *testing.T, dir, text string) *options.Options {
	t.Helper()
	path := filepath.Join(dir, "config.yaml")
	unittest.Must(t, os.WriteFile(path, []byte(text), 0o644))
	f, err := options.Parse("v0", []string{"-config_file=" + path, "-root_dir=/var/lib/kubelet14"})
	unittest.Must(t, err)
	return f
}

// The lines that are commented out have the defaults, but for the one of a URL, which has none.
func TestSettingsAreTheDefaults(t *testing.T) {
	dir, text := t.TempDir(), read(t, "config.yaml")
	want := parse(t, dir, text)
	if want.Config != filepath.Join(dir, "pods") {
		t.Errorf("the pods come from %s", want.Config)
	}
	commented := regexp.MustCompile(`(?m)^#( *[\w.]+:)`)
	all := commented.ReplaceAllString(text, "$1")
	got := parse(t, dir, all)
	if got.ManifestURL == "" || len(commented.FindAllString(text, -1)) < 30 {
		t.Errorf("not all settings count:\n%s", all)
	}
	for _, gate := range []string{features.Eviction, features.ImageGarbageCollection} {
		if got.Gates.Enabled(gate) {
			t.Errorf("the gate %s is on", gate)
		}
	}
	got.Gates = want.Gates // which differ in what is explicit
	if got.ManifestURL = ""; !reflect.DeepEqual(got, want) {
		t.Errorf("a line that is commented out is no default:\ngot  %+v\nwant %+v", got, want)
	}
}

// What a host of a fleet has in the place of config.yaml is its own: etcd.
func TestSettingsOfAFleet(t *testing.T) {
	dir := t.TempDir()
	f := parse(t, dir, read(t, "fleet.yaml"))
	if f.EtcdConfig != filepath.Join(dir, "etcd.yaml") || !f.EtcdStatus || f.Config != filepath.Join(dir, "pods") {
		t.Errorf("got %+v", f)
	}
	_, err := config.OpenEtcd(nil, "etcd.yaml")
	unittest.Says(t, err, "open /etc/kubelet14/etcd/", "no such file") // it reads the certificates that the file names
}

// hidesPaths matches directives of systemd that show the kubelet other files than those that Docker mounts.
var hidesPaths = regexp.MustCompile(`(?m)^(Private|Protect|ReadOnly|Inaccessible|NoExec|Temporary|Root|Bind|Mount|DynamicUser)\w*=.*`)

func TestUnits(t *testing.T) {
	page := read(t, "../operators.md")
	for unit, settings := range map[string]string{"kubelet14.service": "config.yaml", "kubelet14-fleet.service": "fleet.yaml"} {
		text := read(t, unit)
		if hides := hidesPaths.FindAllString(text, -1); hides != nil {
			t.Errorf("%s: hostPath volumes break with %q", unit, hides)
		}
		for line, why := range map[string]string{
			"StartLimitIntervalSec=0": "systemd gives up after five failed starts", "Restart=always": "the kubelet does not return after -exit_on_lock_contention",
			"ExecStart=/usr/local/bin/kubelet14 -config_file=/etc/kubelet14/" + settings + " -root_dir=/var/lib/kubelet14": "it is not what install.sh installs",
		} {
			if !strings.Contains(text, "\n"+line+"\n") {
				t.Errorf("%s lacks %s: without it %s", unit, line, why)
			}
		}
	}
	if token := regexp.MustCompile(`/var/\S+/token\b`).FindAllString(page, -1); !slices.Equal(token, []string{"/var/lib/kubelet14/token"}) {
		t.Errorf("the page for operators reads the tokens %q", token)
	}
}

// run runs a command in a directory, and returns what it prints.
func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// copyProject copies the source, with its history and what is not committed.
func copyProject(t *testing.T) (dir string) {
	t.Helper()
	root, err := unittest.Root()
	unittest.Must(t, err)
	dir = filepath.Join(t.TempDir(), "copy")
	unittest.Must(t, os.Mkdir(dir, 0o755))
	run(t, root, "cp", "-r", ".git", dir)
	run(t, root, "sh", "-ec", `git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$0"`, dir)
	return dir
}

// build makes a release of a copy of the project without a network, and returns its directory.
func build(t *testing.T) (dir string) {
	t.Helper()
	t.Setenv("GOPROXY", "off")
	dir = copyProject(t)
	run(t, dir, "make", "release")
	return filepath.Join(dir, "dist")
}

// The command of CONTRIBUTING.md gives the module another path, in all imports too.
func TestThePathOfTheModule(t *testing.T) {
	dir := copyProject(t)
	_, command, _ := strings.Cut(read(t, "../../CONTRIBUTING.md"), "\n```sh\nNEW=")
	command, _, _ = strings.Cut(command, "```")
	run(t, dir, "bash", "-ec", "NEW="+command)
	path, _, _ := strings.Cut(command, "\n")
	for _, module := range []string{".", "kubelet/server/testdata/browser"} {
		all := run(t, filepath.Join(dir, module), "go", "list", "-test", "-deps", "-f", "{{.ImportPath}}", "./...")
		if !strings.Contains(all, "\n"+path+"/api/unittest\n") || strings.Contains(all, "\nkubelet14") {
			t.Errorf("the packages of %s and what they import:\n%s", module, all)
		}
	}
	if unformatted := run(t, dir, "gofmt", "-l", "."); unformatted != "" {
		t.Errorf("gofmt would change %s", unformatted)
	}
}

// TestIntegrationLongRelease makes a release twice, and uses it: the program for arm64 with qemu, and that for this machine by
// the commands of docs/install.md, on a Debian with Docker.
func TestIntegrationLongRelease(t *testing.T) {
	dir := build(t)
	if again := read(t, filepath.Join(build(t), "SHA256SUMS")); again != read(t, filepath.Join(dir, "SHA256SUMS")) {
		t.Errorf("a second build made other bytes:\n%s", again)
	}
	run(t, dir, "sha256sum", "--check", "--strict", "SHA256SUMS")
	work := t.TempDir()
	versions := map[string]bool{}
	for arch, machine := range map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64} {
		name := name(t, dir, arch)
		tarball, unpacked := filepath.Join(dir, name+".tar.gz"), filepath.Join(work, name)
		run(t, work, "tar", "-xzf", tarball)
		checkTarball(t, unpacked, run(t, work, "tar", "-tvzf", tarball))
		if modules := read(t, filepath.Join(dir, name+".modules.txt")); modules != read(t, filepath.Join(unpacked, "modules.txt")) ||
			!strings.Contains(modules, "\tdep\tgithub.com/fsouza/go-dockerclient\t") || strings.Contains(modules, work) {
			t.Errorf("the modules of %s are\n%s", arch, modules)
		}
		binary := filepath.Join(unpacked, "kubelet14")
		program, err := elf.Open(binary)
		unittest.Must(t, err)
		if libraries, _ := program.ImportedLibraries(); program.Machine != machine || len(libraries) > 0 || program.Section(".symtab") != nil {
			t.Errorf("%s: it is for %v, and needs %q", binary, program.Machine, libraries)
		}
		program.Close()
		command := []string{binary}
		if arch == "arm64" {
			command = []string{"qemu-aarch64-static", binary}
		}
		versions[run(t, work, command[0], append(command[1:], "-version")...)] = true
		checked := run(t, work, command[0], append(command[1:], "check", filepath.Join(unpacked, "pods"))...)
		unittest.Says(t, checked, "3 pods in 3 files: all are taken")
	}
	for version := range versions {
		if len(versions) != 1 || !regexp.MustCompile(`^kubelet14 v\S+\+\d{8}\.[0-9a-f]{12}(\.modified)?\n$`).MatchString(version) {
			t.Errorf("both programs should be of one version, not %q", version)
		}
	}

	install := exec.CommandContext(t.Context(), ".ci/docker-next", "sid", "docs/release/testdata/install")
	tarball, err := os.Open(filepath.Join(dir, name(t, dir, runtime.GOARCH)+".tar.gz"))
	unittest.Must(t, err)
	defer tarball.Close()
	install.Dir, install.Stdin = "../..", tarball // which is the only thing that reaches that Debian
	if out, err := install.CombinedOutput(); err != nil || !strings.Contains(string(out), "\ninstall: all is as it should be\n") {
		t.Errorf("%v\n%s", err, out)
	}
}

// name returns the name of the tarball for an architecture, without its extension.
func name(t *testing.T, dir, arch string) string {
	t.Helper()
	tarballs, _ := filepath.Glob(filepath.Join(dir, "*_linux_"+arch+".tar.gz"))
	if len(tarballs) != 1 {
		t.Fatalf("there are %d tarballs for %s", len(tarballs), arch)
	}
	return strings.TrimSuffix(filepath.Base(tarballs[0]), ".tar.gz")
}

// checkTarball looks at the list that tar prints, and at the page.
func checkTarball(t *testing.T, unpacked, list string) {
	t.Helper()
	var files []string
	for line := range strings.Lines(list) {
		fields := strings.Fields(line)
		if path := strings.SplitN(fields[5], "/", 2)[1]; path != "" {
			files = append(files, path)
		}
		if fields[1] != "0/0" || !strings.HasPrefix(fields[0][4:], "r-") {
			t.Errorf("owner or mode: %s", line)
		}
	}
	want := strings.Fields(`CHANGELOG.md LICENSE README.md config.yaml etcd.yaml fleet.yaml install.sh kubelet14 kubelet14-fleet.service
		kubelet14.bash kubelet14.service licenses.txt modules.txt pods/ pods/hello.yaml pods/once.yaml pods/web.yaml`)
	if !slices.Equal(files, want) {
		t.Errorf("the tarball has\n%q, want\n%q", files, want)
	}
	page := read(t, filepath.Join(unpacked, "README.md"))
	if lines := strings.Count(page, "\n"); lines > 50 || strings.Contains(page, "](") || !strings.HasPrefix(page, "# Install\n\nYou need") {
		t.Errorf("the page has %d lines, or links:\n%s", lines, page)
	}
	if licenses := read(t, filepath.Join(unpacked, "licenses.txt")); strings.Count(licenses, "\n==== ") < 40 {
		t.Errorf("only %d licenses", strings.Count(licenses, "\n==== "))
	}
	if completion := read(t, filepath.Join(unpacked, "kubelet14.bash")); !strings.Contains(completion, "config_file=") {
		t.Errorf("it completes no flags:\n%s", completion)
	}
}
