package client

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"kubelet14/api/unittest"
	"kubelet14/kubelet/dockertools"
)

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	unittest.Must(t, os.WriteFile(path, []byte(text), 0o600))
}

// helpers puts credential helpers, which are shell scripts, first in the PATH.
func helpers(t *testing.T, scripts map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for name, script := range scripts {
		path := filepath.Join(dir, "docker-credential-"+name)
		writeFile(t, path, "#!/bin/sh\n"+script+"\n")
		unittest.Must(t, os.Chmod(path, 0o755))
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

// newKeyring returns a Keyring of files with these texts; an empty text is no file.
func newKeyring(t *testing.T, config, dockercfg string) *Keyring {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"config.json": config, ".dockercfg": dockercfg} {
		if text != "" {
			writeFile(t, filepath.Join(dir, name), text)
		}
	}
	return NewKeyring(dir, filepath.Join(dir, ".dockercfg"))
}

// entry is an entry of auths as `docker login` writes it.
func entry(user string) string {
	return `{"auth": "` + base64.StdEncoding.EncodeToString([]byte(user+":pass:word")) + `"}`
}

func TestLookup(t *testing.T) {
	helpers(t, map[string]string{
		"vault": `[ "$1" = get ] || exit 1
read server || true
case $server in
example.com:5000) echo '{"Username": "helped", "Secret": "pass:word"}' ;;
https://index.docker.io/v1/) echo '{"Username": "<token>", "Secret": "identity"}' ;;
*) echo 'credentials not found in native keychain'; exit 1 ;;
esac`,
		"broken": `echo out of cheese >&2; exit 1`,
	})
	const hub = "https://index.docker.io/v1/"
	user := func(name, server string) dockertools.Auth {
		return dockertools.Auth{Username: name, Password: "pass:word", ServerAddress: server}
	}
	old := `{"https://example.com/v1/": ` + entry("old") + `, "` + hub + `": ` + entry("hub") + `}`
	for name, test := range map[string]struct {
		config, dockercfg, image string
		want                     dockertools.Auth
		err                      string // a part of it; empty: none
	}{
		"no files":               {"", "", "web", dockertools.Auth{}, ""},
		"config.json":            {`{"auths": {"example.com:5000": ` + entry("me") + `}}`, "", "example.com:5000/team/web:1", user("me", "example.com:5000"), ""},
		"Docker Hub":             {`{"auths": {"` + hub + `": ` + entry("me") + `}}`, "", "web", user("me", hub), ""},
		"an identity token":      {`{"auths": {"example.com": {"identitytoken": "t"}}}`, "", "example.com/web", dockertools.Auth{IdentityToken: "t", ServerAddress: "example.com"}, ""},
		"another registry":       {`{"auths": {"example.com": ` + entry("me") + `}}`, "", "example.com.evil.org/web", dockertools.Auth{}, ""},
		"a file of 2014":         {"", old, "example.com/web", user("old", "example.com"), ""},
		"a file of 2014, hub":    {"", old, "library/web", user("hub", hub), ""},
		"the newer file first":   {`{"auths": {"example.com": ` + entry("new") + `}}`, old, "example.com/web", user("new", "example.com"), ""},
		"a store":                {`{"credsStore": "vault", "auths": {"example.com:5000": {}}}`, "", "example.com:5000/web", user("helped", "example.com:5000"), ""},
		"a store, hub":           {`{"credsStore": "vault"}`, "", "web", dockertools.Auth{IdentityToken: "identity", ServerAddress: hub}, ""},
		"a store without it":     {`{"credsStore": "vault"}`, old, "example.com/web", user("old", "example.com"), ""},
		"a helper of one":        {`{"credHelpers": {"example.com:5000": "vault"}}`, "", "example.com:5000/web", user("helped", "example.com:5000"), ""},
		"a helper that fails":    {`{"credsStore": "broken"}`, old, "example.com/web", user("old", "example.com"), "exit status 1"},
		"no such helper":         {`{"credsStore": "nosuch"}`, old, "example.com/web", user("old", "example.com"), "docker-credential-nosuch"},
		"a file that is broken":  {`{"auths":`, old, "example.com/web", user("old", "example.com"), "config.json"},
		"a file that is no JSON": {"", "{\n  \"a\": 1,}", "example.com/web", dockertools.Auth{}, "not JSON at line 2"},
		"both are broken":        {`{"auths": [`, `[`, "example.com/web", dockertools.Auth{}, ".dockercfg"},
		"no image name":          {"", "", "Not An Image", dockertools.Auth{}, `"Not An Image"`},
	} {
		got, err := newKeyring(t, test.config, test.dockercfg).Lookup(t.Context(), test.image)
		if got != test.want {
			t.Errorf("%s: got %q by %q, want %q", name, got, got.Password, test.want)
		}
		if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: %v, want an error with %q", name, err, test.err)
		}
	}
}

// A helper that hangs holds up no pull, and runs only once at a time.
func TestLookupDoesNotWaitForAHelperThatHangs(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	helpers(t, map[string]string{"hangs": `echo $$ >>` + pids + `; exec sleep 60`})
	k := newKeyring(t, `{"credsStore": "hangs"}`, "")
	t.Cleanup(func() {
		text, err := os.ReadFile(pids)
		pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil || pid == 0 || syscall.Kill(pid, syscall.SIGKILL) != nil {
			t.Errorf("the helper's pids are %q, %v; want one that runs", text, err)
		}
	})
	k.limit = 24 * time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(time.Millisecond, cancel)
	if _, err := k.Lookup(ctx, "example.com/web"); err == nil || !strings.Contains(err.Error(), "context canceled") {
		t.Errorf("a caller that stops: %v", err)
	}
	eventually(t, "the helper runs", func() (bool, string) {
		text, err := os.ReadFile(pids)
		return strings.HasSuffix(string(text), "\n"), fmt.Sprint(err)
	})
	k.limit = time.Millisecond
	if _, err := k.Lookup(t.Context(), "example.com/web"); err == nil || !strings.Contains(err.Error(), "no answer within 1ms") {
		t.Errorf("got %v, want an error about the missing answer", err)
	}
}

func TestNoErrorHasASecret(t *testing.T) {
	const secret = "s3cr3t"
	encoded := base64.StdEncoding.EncodeToString([]byte(secret)) // without a colon
	helpers(t, map[string]string{
		"fails":    `echo '{"Username": "me", "Secret": "` + secret + `"}'; exit 1`,
		"whispers": `echo '{"Username": "me", "Secret": "` + secret + `"}' >&2; exit 1`,
		"cut":      `echo '{"Username": "me", "Secret": "` + secret + `'`,
		"bare":     `echo ` + secret,
		"number":   `echo '{"Username": 5, "Secret": "` + secret + `"}'`,
		"key":      `echo '{"` + secret + `"}'`,
	})
	entry := func(text string) string { return `{"auths": {"bar.example.com": ` + text + `}}` }
	for _, config := range []string{
		secret,
		`{"auths": "` + secret + `"}`,
		`{"auths": {"bar.example.com": {"auth": "` + secret + `"`,
		`{"credHelpers": {"` + secret + `": 1}}`,
		entry(`{"auth": "` + secret + `%"}`),
		entry(`{"auth": "` + encoded + `"}`),
		entry(`{"username": 1, "password": "` + secret + `"}`),
		`{"credsStore": "fails"}`, `{"credsStore": "whispers"}`, `{"credsStore": "cut"}`,
		`{"credsStore": "bare"}`, `{"credsStore": "number"}`, `{"credsStore": "key"}`,
	} {
		_, err := newKeyring(t, config, config).Lookup(t.Context(), "bar.example.com/a")
		if err == nil {
			t.Errorf("%s: no error", config)
			continue
		}
		text := fmt.Sprintf("%v %+v %#v", err, err, err)
		// The decoder would show a letter of it: "invalid character 's'".
		if strings.Contains(text, secret) || strings.Contains(text, encoded) || strings.Contains(text, "'s'") {
			t.Errorf("%s: the error has a secret: %s", config, text)
		}
	}
}
