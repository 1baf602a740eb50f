package client

import (
	"encoding/base64"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/dockertools/registrytest"
)

// Each way to keep a password leads to the registry; a wrong one is refused there,
// and a new one counts at the next pull.
func TestIntegrationPullWithTheCredentialsOf(t *testing.T) {
	entry := func(password string) string {
		return `"auth": "` + base64.StdEncoding.EncodeToString([]byte("user:"+password)) + `"`
	}
	for name, keep := range map[string]func(t *testing.T, dir, address, password string){
		"config.json": func(t *testing.T, dir, address, password string) {
			writeFile(t, filepath.Join(dir, "config.json"), fmt.Sprintf(`{"auths": {%q: {%s}}}`, address, entry(password)))
		},
		".dockercfg": func(t *testing.T, dir, address, password string) {
			writeFile(t, filepath.Join(dir, ".dockercfg"), fmt.Sprintf(`{"http://%s": {%s, "email": "user@example.com"}}`, address, entry(password)))
		},
		"a credential helper": func(t *testing.T, dir, address, password string) {
			writeFile(t, filepath.Join(dir, "config.json"), fmt.Sprintf(`{"credHelpers": {%q: "vault"}}`, address))
			helpers(t, map[string]string{"vault": fmt.Sprintf(
				`[ "$(cat)" = %s ] && echo '{"Username": "user", "Secret": "%s"}'`, address, password)})
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := realDocker(t)
			r := registrytest.New(t)
			image := r.Push("team/web:1")
			r.SetAuth("user", "right password")
			dir := t.TempDir()
			keyring := NewKeyring(dir, filepath.Join(dir, ".dockercfg"))
			pull := func() error {
				t.Helper()
				auth, err := keyring.Lookup(t.Context(), image.Ref)
				if err != nil {
					t.Fatal(err)
				}
				return c.PullImage(t.Context(), image.Ref, auth, noProgress)
			}

			// Step: the registry has another password.
			keep(t, dir, r.Addr(), "wrong password")
			if err := pull(); !errors.Is(err, dockertools.ErrUnauthorised) {
				t.Fatalf("with the wrong password: %v", err)
			}

			// Step: it is mended.
			keep(t, dir, r.Addr(), "right password")
			if err := pull(); err != nil {
				t.Fatal(err)
			}
			wantPulled(t, c, image.Ref, image)

			// Step: what Docker has is no way around a password.
			r.SetAuth("user", "new password")
			if err := pull(); !errors.Is(err, dockertools.ErrUnauthorised) {
				t.Fatalf("with the old password: %v", err)
			}
		})
	}
}
