package e2e

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Passwords that nothing else in a log looks like.
const (
	rightPassword = "correct-horse-14"
	wrongPassword = "battery-staple-88"
)

// Each way to keep a password leads to the registry. A wrong one is named in the
// status, a corrected one counts while the kubelet runs, and neither is ever shown.
func TestIntegrationPullWithACredentialOf(t *testing.T) {
	for name, keep := range map[string]func(h *registryHost, password string){
		"config.json": func(h *registryHost, password string) {
			replaceFile(h.t, h.dockerConfig, "config.json", fmt.Sprintf(`{"auths": {%q: %s}}`, h.registry.Addr(), authEntry(password)), 0o600)
		},
		".dockercfg in root_dir": func(h *registryHost, password string) {
			if err := os.MkdirAll(h.rootDir, 0o750); err != nil {
				h.t.Fatal(err)
			}
			replaceFile(h.t, h.rootDir, ".dockercfg", fmt.Sprintf(`{"http://%s": %s}`, h.registry.Addr(), authEntry(password)), 0o600)
		},
		"a credential helper": func(h *registryHost, password string) {
			replaceFile(h.t, h.dockerConfig, "config.json", fmt.Sprintf(`{"credHelpers": {%q: "vault"}}`, h.registry.Addr()), 0o600)
			script := fmt.Sprintf("#!/bin/sh\n[ \"$1 $(cat)\" = \"get %s\" ] && echo '{\"Username\": \"user\", \"Secret\": \"%s\"}'\n", h.registry.Addr(), password)
			replaceFile(h.t, h.dockerConfig, "docker-credential-vault", script, 0o700)
			h.env = append(h.env, "PATH="+h.dockerConfig+":"+os.Getenv("PATH"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newRegistryHost(t)
			image := h.registry.Push("team/web:1")
			h.registry.SetAuth("user", rightPassword)
			keep(h, wrongPassword)
			h.put("pod", image.Ref)
			p := h.start("-v=9")
			h.eventually("the wrong password is refused", func() error {
				return p.shows("pod/main", "waiting", "Unauthorised: ", image.Ref, "the next pull is at ")
			})
			p.mustNotTell()

			keep(h, rightPassword)
			h.awaitRuns("pod", image)
			p.mustNotTell()
		})
	}
}

// Somebody who is not logged in at all is told so too, and so is who has a broken
// configuration, without its text.
func TestIntegrationPullWithoutACredential(t *testing.T) {
	t.Parallel()
	h := newRegistryHost(t)
	image := h.registry.Push("team/web:1")
	h.registry.SetAuth("user", rightPassword)
	h.put("pod", image.Ref)
	p := h.start("-v=9")
	h.eventually("nobody is refused", func() error { return p.shows("pod/main", "waiting", "Unauthorised: ", image.Ref) })

	replaceFile(h.t, h.dockerConfig, "config.json", fmt.Sprintf(`{"auths": {%q: %s,}}`, h.registry.Addr(), authEntry(rightPassword)), 0o600)
	p.says("find credentials for image", image.Ref, filepath.Join(h.dockerConfig, "config.json"), "not JSON at line 1, column ")
	p.mustNotTell()

	replaceFile(h.t, h.dockerConfig, "config.json", fmt.Sprintf(`{"auths": {%q: %s}}`, h.registry.Addr(), authEntry(rightPassword)), 0o600)
	h.awaitRuns("pod", image)
	p.mustNotTell()
}

// authEntry is what `docker login` writes for a user.
func authEntry(password string) string {
	return fmt.Sprintf(`{"auth": %q}`, base64.StdEncoding.EncodeToString([]byte("user:"+password)))
}

// mustNotTell checks that no password is in what the kubelet has written so far, its
// answer to SIGUSR1 included, in plain letters or as they travel.
func (p *process) mustNotTell() {
	p.t.Helper()
	if _, err := p.status(); err != nil {
		p.t.Fatal(err)
	}
	for _, password := range []string{rightPassword, wrongPassword} {
		// Base64 of what stands anywhere in a text looks one of three ways; the first
		// and last letters depend on what is beside it.
		secrets := []string{password}
		for before := range 3 {
			encoded := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", before) + password))
			secrets = append(secrets, encoded[4:len(encoded)-4])
		}
		for _, secret := range secrets {
			if p.log.hasLine([]string{secret}) || p.out.hasLine([]string{secret}) {
				p.t.Errorf("the kubelet has told the secret %q", secret)
			}
		}
	}
}
