package client

import (
	"errors"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubelet14/kubelet/dockertools"
)

// newKeyring makes a Keyring of two files with these contents; "" is no file.
func newKeyring(t *testing.T, config, dockercfg string) *Keyring {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{"config.json": config, ".dockercfg": dockercfg} {
		if content != "" {
			writeFile(t, filepath.Join(dir, name), content)
		}
	}
	return NewKeyring(dir, filepath.Join(dir, ".dockercfg"))
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func expectUser(t *testing.T, k *Keyring, image, user string) {
	t.Helper()
	auth, err := k.Lookup(t.Context(), image)
	if err != nil || auth.Username != user {
		t.Errorf("%s is pulled as user %q (error %v), and should be as %q", image, auth.Username, err, user)
	}
}

// auths is the map of auths in which every key has a user named as the key.
func auths(keys ...string) string {
	var entries []string
	for _, key := range keys {
		entries = append(entries, `"`+key+`": {"username": "`+key+`", "password": "p"}`)
	}
	return "{" + strings.Join(entries, ",") + "}"
}

func TestTheLongestKeyThatHoldsTheImageWins(t *testing.T) {
	k := newKeyring(t, "", auths("bar.example.com", "bar.example.com/pong", "bar.example.com:5000", "baz.example.com/a/b"))
	for image, user := range map[string]string{
		"bar.example.com/pong":                                   "bar.example.com/pong",
		"bar.example.com/pong:1":                                 "bar.example.com/pong",
		"bar.example.com/pong/pang":                              "bar.example.com/pong",
		"bar.example.com/ping":                                   "bar.example.com",
		"bar.example.com/pongz":                                  "bar.example.com", // 2014: bar.example.com/pong
		"bar.example.com/ping@sha256:" + strings.Repeat("0", 64): "bar.example.com",
		"bar.example.com:5000/pong":                              "bar.example.com:5000",
		"bar.example.com:5001/pong":                              "",
		"baz.example.com/a/b/c":                                  "baz.example.com/a/b",
		"baz.example.com/a":                                      "",
		"example.com/pong":                                       "",
		"foo.example.com/pong":                                   "",
		"foo.bar.example.com/pong":                               "",
		"bar.example.com.example.org/pong":                       "",
		"busybox":                                                "",
	} {
		expectUser(t, k, image, user)
	}
}

func TestAKeyMayBeSpelledAsAnAddress(t *testing.T) {
	for _, key := range []string{
		"bar.example.com", "bar.example.com/", "https://bar.example.com", "http://bar.example.com",
		"https://bar.example.com/v1/", "https://bar.example.com/v2/", "bar.example.com/v1",
	} {
		k := newKeyring(t, `{"auths": `+auths(key)+`}`, "")
		expectUser(t, k, "bar.example.com/foo/bar", key)
		expectUser(t, k, "bar.example.com:443/foo/bar", "")
	}
}

func TestOfTwoSpellingsTheOneOfDockerWins(t *testing.T) {
	k := newKeyring(t, `{"auths": `+auths("docker.io", hubServer, "index.docker.io", "https://bar.example.com", "bar.example.com", "bar.example.com/v1")+`}`, "")
	expectUser(t, k, "busybox", hubServer)
	expectUser(t, k, "bar.example.com/foo", "bar.example.com")
}

func TestAllNamesOfDockerHubAreOne(t *testing.T) {
	for _, key := range []string{"docker.io", "index.docker.io", hubServer, "registry-1.docker.io", "https://registry-1.docker.io/v2/"} {
		k := newKeyring(t, auths(key), "")
		for _, image := range []string{
			"busybox", "busybox:1", "library/busybox", "me/app", "docker.io/me/app",
			"index.docker.io/me/app", "registry-1.docker.io/me/app", "index.docker.io/v1/me/app",
		} {
			expectUser(t, k, image, key)
		}
	}
}

func TestCredentialsOfDockerHubStayThere(t *testing.T) {
	k := newKeyring(t, `{"auths": `+auths(hubServer)+`}`, auths("docker.io/v1/"))
	for _, image := range []string{
		"bar.example.com/me/app", "docker.io:5000/me/app", "docker.io.example.com/me/app", "localhost/docker.io/app", "quay.example.com/v1/app",
	} {
		expectUser(t, k, image, "")
	}
}

func TestAnotherRegistrysCredentialsDoNotGoToDockerHub(t *testing.T) {
	k := newKeyring(t, `{"auths": `+auths("bar.example.com", "library", "me", "https://", "/", "")+`}`, "")
	for _, image := range []string{"busybox", "me/app", "docker.io/bar.example.com/app"} {
		expectUser(t, k, image, "")
	}
}

func TestTheRegistryIsNamedAsDockerNamesIt(t *testing.T) {
	k := newKeyring(t, auths("registry-1.docker.io", "https://bar.example.com:5000/team"), "")
	for image, want := range map[string]string{
		"registry-1.docker.io/me/app":    hubServer,
		"bar.example.com:5000/team/app":  "bar.example.com:5000",
		"other.example.com:5000/pod/app": "",
	} {
		if auth, err := k.Lookup(t.Context(), image); err != nil || auth.ServerAddress != want {
			t.Errorf("%s: credentials for registry %q (error %v), want %q", image, auth.ServerAddress, err, want)
		}
	}
}

func TestDockersConfigComesBeforeDockercfg(t *testing.T) {
	k := newKeyring(t,
		`{"auths": {"bar.example.com": {"username": "config", "password": "p"}, "empty.example.com": {}}}`,
		auths("bar.example.com/long", "empty.example.com", "foo.example.com"))
	expectUser(t, k, "bar.example.com/long", "config")
	expectUser(t, k, "empty.example.com/a", "empty.example.com")
	expectUser(t, k, "foo.example.com/a", "foo.example.com")
	expectUser(t, k, "none.example.com/a", "")
}

func TestAChangedFileCountsAtOnce(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "config.json")
	k := NewKeyring(dir, "")
	expectUser(t, k, "bar.example.com/a", "")
	writeFile(t, path, auths("bar.example.com"))
	expectUser(t, k, "bar.example.com/a", "bar.example.com")
	writeFile(t, path, auths("bar.example.com/a"))
	expectUser(t, k, "bar.example.com/a", "bar.example.com/a")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	expectUser(t, k, "bar.example.com/a", "")
}

func TestABrokenFileIsToldAndTheNextOneUsed(t *testing.T) {
	k := newKeyring(t, "{\n  \"auths\": {]\n", auths("bar.example.com"))
	auth, err := k.Lookup(t.Context(), "bar.example.com/a")
	if auth.Username != "bar.example.com" {
		t.Errorf("got %v from .dockercfg", auth)
	}
	if err == nil || !strings.Contains(err.Error(), k.files[0]) || !strings.Contains(err.Error(), "line 2, column 13") {
		t.Errorf("the error does not name the place: %v", err)
	}
}

func TestAFileThatCannotBeReadIsTold(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "config.json")
	if err := os.Mkdir(path, 0o700); err != nil { // root may read every file, and no directory
		t.Fatal(err)
	}
	_, err := NewKeyring(dir, "").Lookup(t.Context(), "bar.example.com/a")
	var told *fs.PathError
	if !errors.As(err, &told) || told.Path != path {
		t.Errorf("the error does not name %s: %v", path, err)
	}
}

func TestABadImageNameIsTold(t *testing.T) {
	_, err := newKeyring(t, "", "").Lookup(t.Context(), "Not A Name")
	if err == nil || !strings.Contains(err.Error(), `"Not A Name"`) {
		t.Errorf("the error does not name the image: %v", err)
	}
}

func TestWhereDockersConfigIs(t *testing.T) {
	given, variable, home := t.TempDir(), t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	for _, c := range []struct{ given, variable, want string }{
		{given, variable, given},
		{"", variable, variable},
		{"", "", filepath.Join(home, ".docker")},
	} {
		t.Setenv("DOCKER_CONFIG", c.variable)
		if got := filepath.Dir(NewKeyring(c.given, "").files[0]); got != c.want {
			t.Errorf("given %q and $DOCKER_CONFIG %q: reads in %q, want %q", c.given, c.variable, got, c.want)
		}
	}
}

// systemd gives its services no HOME.
func TestTheHomeIsKnownWithoutItsVariable(t *testing.T) {
	t.Setenv("HOME", "")
	t.Setenv("DOCKER_CONFIG", "")
	this, err := user.LookupId(strconv.Itoa(os.Getuid()))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := NewKeyring("", "").files[0], filepath.Join(this.HomeDir, ".docker", "config.json"); got != want {
		t.Errorf("reads %q, want %q", got, want)
	}
}

func TestDockerLoginFormsAreRead(t *testing.T) {
	want := dockertools.Auth{Username: "me", Password: "p:w", ServerAddress: "bar.example.com"}
	entry := `{"auth": "bWU6cDp3", "email": "me@example.com"}`
	for name, k := range map[string]*Keyring{
		"config.json":                       newKeyring(t, `{"auths": {"bar.example.com": `+entry+`}, "HttpHeaders": {"User-Agent": "x"}, "psFormat": "table"}`, ""),
		".dockercfg of 2014":                newKeyring(t, "", `{"https://bar.example.com/v1/": `+entry+`}`),
		".dockercfg written as config.json": newKeyring(t, "", `{"auths": {"bar.example.com": `+entry+`}}`),
	} {
		got, err := k.Lookup(t.Context(), "bar.example.com/a")
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: error %v, %s", name, err, diff)
		}
	}
}
