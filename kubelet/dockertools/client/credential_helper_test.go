package client

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kubelet14/kubelet/dockertools"
)

// helpers writes credential helpers, each a shell script by the end of its name,
// and puts them on the PATH. It returns their directory, which is $DIR to them.
func helpers(t *testing.T, scripts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	t.Setenv("DIR", dir)
	for name, script := range scripts {
		path := filepath.Join(dir, "docker-credential-"+name)
		writeFile(t, path, "#!/bin/sh\n"+script+"\n")
		if err := os.Chmod(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// answers is a script that answers as user, for every registry.
func answers(user string) string {
	return `echo '{"ServerURL": "elsewhere.example.com", "Username": "` + user + `", "Secret": "s"}'`
}

func TestAHelperIsAskedByTheNameThatDockerUses(t *testing.T) {
	dir := helpers(t, map[string]string{"spy": `echo "$1 $(cat)" > $DIR/asked; ` + answers("me")})
	k := newKeyring(t, `{"credsStore": "spy"}`, "")
	for image, server := range map[string]string{
		"busybox":                       hubServer,
		"index.docker.io/me/app":        hubServer,
		"bar.example.com:5000/team/app": "bar.example.com:5000",
	} {
		got, err := k.Lookup(t.Context(), image)
		want := dockertools.Auth{Username: "me", Password: "s", ServerAddress: server}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: error %v, %s", image, err, diff)
		}
		asked, err := os.ReadFile(filepath.Join(dir, "asked"))
		if string(asked) != "get "+server+"\n" {
			t.Errorf("%s: the helper was asked %q (error %v)", image, asked, err)
		}
	}
}

func TestWhichHelperIsAsked(t *testing.T) {
	helpers(t, map[string]string{"store": answers("store"), "bar": answers("bar"), "team": answers("team"), "none": "echo credentials not found in native keychain; exit 1"})
	k := newKeyring(t, `{
		"auths": {"bar.example.com": {}, "file.example.com": {"username": "file", "password": "p"},
			"both.example.com": {"username": "file", "password": "p"}, "both.example.com/team": {"username": "file of the team", "password": "p"},
			"short.example.com": {"username": "file", "password": "p"}, "plain.example.com": {"username": "file", "password": "p"}},
		"credsStore": "store",
		"credHelpers": {"bar.example.com": "bar", "bar.example.com/team": "team", "off.example.com": "", "none.example.com": "none",
			"plain.example.com": "", "both.example.com": "bar", "short.example.com/team": "team"}
	}`, auths("none.example.com"))
	for image, user := range map[string]string{
		"busybox":                  "store",
		"bar.example.com/app":      "bar",
		"bar.example.com/team/app": "team",
		"file.example.com/app":     "file", // credentials in the file come before the helper of all
		"off.example.com/app":      "",
		"plain.example.com/app":    "file",
		"both.example.com/app":     "bar", // and after one that is named for as much, as for Docker
		"both.example.com/team/a":  "file of the team",
		"short.example.com/app":    "file",
		"short.example.com/team/a": "team",             // the longest counts, wherever it stands
		"none.example.com/app":     "none.example.com", // of the next file
	} {
		expectUser(t, k, image, user)
	}
}

func TestAHelperMayGiveAnIdentityToken(t *testing.T) {
	helpers(t, map[string]string{"h": answers("<token>")})
	got, err := newKeyring(t, `{"credsStore": "h"}`, "").Lookup(t.Context(), "bar.example.com/a")
	want := dockertools.Auth{IdentityToken: "s", ServerAddress: "bar.example.com"}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("error %v, %s", err, diff)
	}
}

func TestAnEmptyAnswerIsNobody(t *testing.T) {
	helpers(t, map[string]string{"h": `echo '{"Username": "", "Secret": ""}'`})
	got, err := newKeyring(t, `{"credsStore": "h"}`, "").Lookup(t.Context(), "bar.example.com/a")
	if err != nil || got != (dockertools.Auth{}) {
		t.Errorf("got %v, error %v", got, err)
	}
}

func TestABadHelperIsToldAndTheNextFileUsed(t *testing.T) {
	long := strings.Repeat("é", maxHelperReason)
	for script, told := range map[string]string{
		"echo the vault is locked >&2; exit 1":   `exit status 1: "the vault is locked"`,
		"echo one; echo two; exit 2":             `exit status 2: "one"`,
		"echo " + long + "é; exit 1":             `"` + long + `…"`,
		"exit 3":                                 "exit status 3",
		"kill -9 $$":                             "killed",
		"echo garbage":                           "not JSON at line 1, column 1",
		"true":                                   "not JSON",
		"head -c 10000000 /dev/zero":             "not JSON",
		"head -c 10000000 /dev/zero >&2; exit 1": "exit status 1",
		`echo '{"Username": "me"}'`:              "a user name without a password",
		`echo '{"Secret": "s"}'`:                 "a password without a user name",
		`echo '{"Username": "<token>"}'`:         "a user name without a password",
		`echo '{"Username": 1}'`:                 "Username must not be of type number",
		`echo '["me"]'`:                          "it must not be of type array",
	} {
		helpers(t, map[string]string{"h": script})
		k := newKeyring(t, `{"credsStore": "h"}`, auths("bar.example.com"))
		auth, err := k.Lookup(t.Context(), "bar.example.com/a")
		if auth.Username != "bar.example.com" {
			t.Errorf("%s: got %v from the next file", script, auth)
		}
		if err == nil || !strings.Contains(err.Error(), told) || len(err.Error()) > 1000 ||
			!strings.Contains(err.Error(), "docker-credential-h") || !strings.Contains(err.Error(), `"bar.example.com"`) {
			t.Errorf("%s: the error does not name program, registry and %s: %v", script, told, err)
		}
	}
}

func TestAHelperThatIsMissingOrAPathIsTold(t *testing.T) {
	dir := helpers(t, nil)
	if err := os.Mkdir(filepath.Join(dir, "docker-credential-"), 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "docker-credential-", "evil"), "#!/bin/sh\ntouch $DIR/ran\n")
	for name, told := range map[string]string{"missing": "not found", "/evil": "path", "../evil": "path"} {
		_, err := newKeyring(t, `{"credsStore": "`+name+`"}`, "").Lookup(t.Context(), "bar.example.com/a")
		if err == nil || !strings.Contains(err.Error(), told) || !strings.Contains(err.Error(), "docker-credential-"+name) {
			t.Errorf("helper %q: the error is %v", name, err)
		}
	}
}

// A helper that hangs says so in the pipe "up", and so does the program it has
// started: the pipe is at its end when both have ended.
func hangingHelper(t *testing.T) (up string) {
	dir := helpers(t, map[string]string{"hang": `exec 3>$DIR/up; echo up >&3; cat $DIR/never; echo not reached`})
	for _, name := range []string{"up", "never"} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "up")
}

func TestAHelperEndsWithTheContext(t *testing.T) {
	path := hangingHelper(t)
	both, err := os.OpenFile(path, os.O_RDWR, 0) // does not wait for the helper to open it
	if err != nil {
		t.Fatal(err)
	}
	defer both.Close()
	k := newKeyring(t, `{"credsStore": "hang"}`, "")
	k.helperLimit = time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := k.Lookup(ctx, "bar.example.com/a")
		ended <- err
	}()

	both.SetReadDeadline(time.Now().Add(time.Minute))
	if _, err := io.ReadFull(both, make([]byte, len("up\n"))); err != nil {
		t.Errorf("the helper does not start: %v", err)
	}
	up, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer up.Close()
	both.Close() // the helper and its program are the only ones left to write
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the error is not the context's: %v", err)
	}
	up.SetReadDeadline(time.Now().Add(time.Minute))
	if rest, err := io.ReadAll(up); err != nil {
		t.Errorf("a program of the helper lives on: read %q, %v", rest, err)
	}
}

func TestAHelperHasATimeLimit(t *testing.T) {
	hangingHelper(t)
	k := newKeyring(t, `{"credsStore": "hang"}`, auths("bar.example.com"))
	k.helperLimit = time.Millisecond
	auth, err := k.Lookup(t.Context(), "bar.example.com/a")
	if auth.Username != "bar.example.com" || err == nil || !strings.Contains(err.Error(), "no answer within 1ms") {
		t.Errorf("got %v from the next file, error %v", auth, err)
	}
}

func TestAHelperMayLeaveAnAgentBehind(t *testing.T) {
	dir := helpers(t, map[string]string{"h": `cat $DIR/end & ` + answers("me")})
	path := filepath.Join(dir, "end")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	end, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer end.Close() // the agent ends
	expectUser(t, newKeyring(t, `{"credsStore": "h"}`, ""), "bar.example.com/a", "me")
}

func TestWhatAHelperPrintsIsBounded(t *testing.T) {
	var kept boundedBuffer
	const printed = 10 << 20
	n, err := io.Copy(&kept, strings.NewReader(strings.Repeat("x", printed)))
	if n != printed || err != nil {
		t.Errorf("it is held up after %d bytes: %v", n, err)
	}
	if kept.kept.Len() != maxHelperOutput {
		t.Errorf("%d bytes are kept, want %d", kept.kept.Len(), maxHelperOutput)
	}
}
