package e2e

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Passwords that resemble nothing else in a log.
const rightPassword, wrongPassword = "correct-horse-14", "battery-staple-88"

// A wrong password is reported in the status, a corrected one counts at once, and
// neither is ever shown.
func TestIntegrationLongPullsWithCredentials(t *testing.T) {
	t.Parallel()
	h := newRegistryHost(t)
	image := h.registry.Push("team/web:1")
	h.registry.SetAuth("user", rightPassword)
	config, dockercfg := filepath.Join(h.dockerConfig, "config.json"), filepath.Join(h.RootDir, ".dockercfg")
	entry := func(password string) string { // what `docker login` writes
		return fmt.Sprintf(`{%q: {"auth": %q}}`, h.registry.Addr(), base64.StdEncoding.EncodeToString([]byte("user:"+password)))
	}
	h.ReplaceFile(config, `{"auths": `+entry(wrongPassword)+"}", 0o600)
	h.Write("pod", imagePod("pod", image.Ref))
	p := h.Start("-v=9")
	p.AwaitShows("pod/main", "waiting", "Unauthorised: ", image.Ref)
	h.ReplaceFile(config, `{"auths": `+entry(rightPassword)+",}", 0o600)
	p.AwaitLog("credentials", config)
	h.Must(os.Remove(config))
	h.ReplaceFile(dockercfg, entry(rightPassword), 0o600)
	h.awaitRuns("pod", image)
	h.Must(os.Remove(dockercfg))
	h.ReplaceFile(config, `{"auths": `+entry(rightPassword)+"}", 0o600)
	old := h.Live("pod", "main")
	h.Write("pod", imagePod("pod", image.Ref, "imagePullPolicy: PullAlways"))
	h.AwaitReplaced(old)
	told := p.Log.String() + p.MustAsk("GET", "/pods").Body
	for _, password := range []string{rightPassword, wrongPassword} {
		encoded := base64.StdEncoding.EncodeToString([]byte("user:" + password))
		if strings.Contains(told, password) || strings.Contains(told, encoded) {
			t.Errorf("the kubelet shows the secret %q", password)
		}
	}
}
