package e2e

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kubelet14/kubelet/dockertools/registrytest"
	"kubelet14/kubelet/e2e/hosttest"
)

// When a tag moves in the registry, the policy alone decides which image a container runs and how often the registry is
// asked.
func TestIntegrationLongPullPolicies(t *testing.T) {
	t.Parallel()
	h := newRegistryHost(t)
	table := []struct {
		id, tag, policy string
		byDigest        bool
		version, pulls  [3]int // after the start, a crash, an edit
	}{
		{id: "latest", tag: "latest:latest", version: [3]int{1, 1, 3}, pulls: [3]int{2, 2, 3}},
		{id: "always", tag: "always:1", policy: "PullAlways", version: [3]int{1, 2, 3}, pulls: [3]int{2, 3, 4}},
		{id: "default", tag: "default:1", pulls: [3]int{1, 1, 1}},
		{id: "if-not-present", tag: "present:1", policy: "PullIfNotPresent", pulls: [3]int{1, 1, 1}},
		{id: "never", tag: "never:latest", policy: "PullNever", pulls: [3]int{1, 1, 1}},
		{id: "digest", tag: "digest:1", byDigest: true, pulls: [3]int{1, 1, 1}},
	}
	images := make([][]registrytest.Image, len(table))
	push := func() {
		for i, row := range table {
			images[i] = append(images[i], h.registry.Push(row.tag))
		}
	}
	write := func(i, round int) {
		row := table[i]
		ref, more := images[i][0].Ref, fmt.Sprintf("env: [{name: ROUND, value: \"%d\"}]", round)
		if row.byDigest {
			ref = images[i][0].ByDigest
		}
		if row.policy != "" {
			more += "\n    imagePullPolicy: " + row.policy
		}
		h.Write(row.id, imagePod(row.id, ref, more))
	}
	check := func(step int, when string) {
		t.Helper()
		for i, row := range table {
			h.awaitRuns(row.id, images[i][row.version[step]])
			h.mustHaveAsked(row.pulls[step], when, row.tag)
		}
	}
	push()
	for i := range table {
		h.pull(images[i][0]) // it is present
	}
	push() // the tags have moved since
	var ids []string
	for i, row := range table {
		write(i, 0)
		ids = append(ids, row.id)
	}
	p := h.Start()
	check(0, "at the first start")

	push()
	h.Mend(ids...)
	check(1, "after a crash")

	push()
	var old []hosttest.Container
	for i, row := range table {
		old = append(old, h.Live(row.id, "main"))
		write(i, 1)
	}
	for _, c := range old {
		h.AwaitReplaced(c)
	}
	check(2, "after an edit")

	// Without the registry a present :latest is used, but PullAlways waits for the registry.
	h.registry.Stop()
	h.Kill("always", "main")
	p.AwaitShows("always/main", "waiting", "PullFailed: ", "connection refused")
	latest := h.Live("latest", "main")
	write(0, 2)
	h.AwaitReplaced(latest)
}

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

// While a registry hangs, only containers that need its image wait for it. The registry
// is asked once for all of them.
func TestIntegrationLongAPullThatHangs(t *testing.T) {
	t.Parallel()
	h := newRegistryHost(t)
	h.pull(h.registry.Push("other:1"))
	onePull := h.registry.Pulls("other:1")
	image := h.registry.Push("web:1")
	h.registry.HoldBlobs()
	h.Write("pod", strings.ReplaceAll(hosttest.TwoContainers("pod"), "name: side, image: HELLO", "name: side, image: "+image.Ref))
	var many []string
	for i := range 10 {
		many = append(many, fmt.Sprintf("pod%d", i))
		h.Write(many[i], imagePod(many[i], image.Ref))
	}
	p := h.Start()
	for _, id := range many {
		p.AwaitShows(id+"/main", "waiting", "Pulling: ")
	}
	h.registry.AwaitHeld()
	p.Kill() // the next kubelet pulls it
	p = h.Start("-sync_frequency=100ms")
	p.AwaitShows("pod/side", "waiting", "Pulling: ", image.Ref, "0 of 1 layers")
	for _, id := range many {
		p.AwaitShows(id+"/main", "waiting", "Pulling: ", image.Ref, "0 of 1 layers")
	}
	asked := h.registry.Pulls("web:1")

	old := h.Kill("pod", "main")
	h.AwaitReplaced(old)
	h.WriteSleepers("new")
	h.AwaitUp("new")
	p.AwaitShows("pod/side", "waiting", "Pulling: ", image.Ref)

	h.registry.MendBlobs()
	h.Await("the container comes when the registry goes on", func() error { return h.Whole("pod", "main", "side") })
	for _, id := range many {
		h.awaitRuns(id, image)
	}
	if all := h.registry.Pulls("web:1"); all != asked || asked > 2*onePull {
		t.Errorf("the registry was asked %d times by two kubelets, then %d times; one pull asks %d times", asked, all, onePull)
	}
}
