package e2e

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kubelet14/api/unittest"
)

// files returns the directory of a volume that the kubelet makes, whose links a container sees as they are.
func files(h *host, pod, volume string) string {
	return filepath.Join(h.RootDir, "pods", h.UID(pod), "volumes", "kubernetes.io~projected", volume)
}

const configPod = `
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: shop}}
spec:
  containers:
  - name: main
    image: HELLO
    command: [/hello, serve, -port, "8080", -show, /all/..data]
    envFrom:
    - {prefix: WEB_, configMapRef: {name: web}}
    - secretRef: {name: web}
    - {configMapRef: {name: none, optional: true}}
    env:
    - {name: COLOUR, valueFrom: {configMapKeyRef: {name: web, key: colour}}}
    - {name: APP, valueFrom: {fieldRef: {fieldPath: "metadata.labels['app']"}}}
    - {name: URL, value: http://$(APP)/$(COLOUR)}
    volumeMounts:
    - {name: all, mountPath: /all}
    - {name: some, mountPath: /some}
    - {name: secret, mountPath: /secret}
    - {name: some, mountPath: /etc/shop.conf, subPath: etc/shop.conf}
  volumes:
  - name: some
    configMap: {name: web, items: [{key: shop.conf, path: etc/shop.conf, mode: 0440}]}
  - {name: secret, secret: {secretName: web}}
  - name: all
    projected:
      sources:
      - configMap: {name: web}
      - downwardAPI: {items: [{path: labels, fieldRef: {fieldPath: metadata.labels}}]}
`

func configMap(colour string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {colour: %s, again: %[1]s, shop.conf: paint %[1]s}\n", colour)
}

const configSecret = "apiVersion: v1\nkind: Secret\nmetadata: {name: web}\nstringData: {PASSWORD: hunter2}\n"

// Variables and files come from ConfigMaps and Secrets. An edit changes the files, all at once, and no container; the variables follow
// at the next creation.
func TestIntegrationConfigMapsAndSecrets(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.Write("web", configMap("red")+"---\n"+configSecret+"---\n"+configPod)
	p := h.Start()
	page := func(words ...string) {
		h.Await(fmt.Sprint("the files have ", words), func() error { return h.Ask("web", "/", words...) })
	}
	p.AwaitUp("web")
	page("colour:\nred", "again:\nred", "shop.conf:\npaint red", "labels:\napp=\"shop\"")
	h.Must(h.Ask("web", "/env", "WEB_colour=red\n", "WEB_shop.conf=paint red\n", "PASSWORD=hunter2\n", "COLOUR=red\n", "APP=shop\n", "URL=http://shop/red\n"))
	for file, want := range map[string]fs.FileMode{"some/etc/shop.conf": 0o440, "secret/PASSWORD": 0o600, "all/colour": 0o644} {
		info, err := os.Stat(filepath.Join(files(h, "web", ""), file))
		if h.Must(err); info.Mode() != want {
			t.Errorf("the mode of %s is %v, want %v", file, info.Mode(), want)
		}
	}
	before := h.IDs()
	p.AwaitRun("web", "cat /etc/shop.conf", "paint red")

	ends := make(chan error)
	stop := make(chan struct{})
	go func() { ends <- readsOneVersion(files(h, "web", "all"), stop) }()
	for i := range 20 {
		colour := fmt.Sprint("blue", i)
		h.Write("web", configMap(colour)+"---\n"+configSecret+"---\n"+configPod)
		page("again:\n"+colour+"colour:\n"+colour, "paint "+colour)
	}
	close(stop)
	h.Must(<-ends)
	p.AwaitRun("web", "cat /some/etc/shop.conf", "paint blue19")
	p.AwaitRun("web", "cat /etc/shop.conf", "paint red") // a part of a volume stays as it was mounted
	p.AwaitShows("web/main", "running", "a ConfigMap or Secret has changed")
	h.Must(h.Ask("web", "/env", "COLOUR=red\n"))
	h.MustBe("an edit of a ConfigMap restarts nothing", before)
	h.Mend("web")
	h.Await("the variables have changed", func() error { return h.Ask("web", "/env", "COLOUR=blue19\n", "URL=http://shop/blue19\n") })
	h.Remove("web")
	h.AwaitGone("web")
	h.Await("its volumes are gone", h.NoVolumes)
}

// readsOneVersion reads two files of a volume until stop is closed. It returns an error if they are ever of two versions.
func readsOneVersion(dir string, stop chan struct{}) error {
	for {
		select {
		case <-stop:
			return nil
		default:
		}
		version, err := filepath.EvalSymlinks(filepath.Join(dir, "..data"))
		colour, err1 := os.ReadFile(filepath.Join(version, "colour"))
		again, err2 := os.ReadFile(filepath.Join(version, "again"))
		if err := errors.Join(err, err1, err2); errors.Is(err, fs.ErrNotExist) {
			continue // that version is gone
		} else if err != nil {
			return err
		}
		if string(colour) != string(again) {
			return fmt.Errorf("one version has %q and %q", colour, again)
		}
	}
}

// A value of a Secret is nowhere but in its container.
func TestIntegrationNoSecretIsShown(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	const canary = "kanarienvogel"
	secret := "apiVersion: v1\nkind: Secret\nmetadata: {name: web}\nstringData: {PASSWORD: " + canary + ", " + canary + "=: }\n"
	h.Write("bad", secret+"---\nkind: Pod\nspec: {}\n")
	h.Write("worse", "kind: Secret\nstringData:\n  a: "+canary+"\n b: |\n"+canary+"\n")
	h.Write("web", configMap("red")+"---\n"+strings.Replace(configSecret, "hunter2", canary, 1)+"---\n"+configPod)
	p := h.Start("-v=9")
	h.Await("the container has it", func() error { return h.Ask("web", "/env", "PASSWORD="+canary) })
	p.AwaitSource("file", "bad.yaml", "worse.yaml")
	h.Write("web", configMap("red")+"---\n"+strings.Replace(configSecret, "hunter2", canary+"2", 1)+"---\n"+configPod)
	p.AwaitShows("web/main", "running", "a ConfigMap or Secret has changed")
	all := map[string]string{"log": p.Log.String()}
	for _, path := range []string{"/", "/status", "/pods", "/node", "/sources", "/events", "/metrics", "/podInfo?podID=web", "/boundPods", "/spec/",
		"/stats/", "/changes/1", "/changes/2", "/changes/3"} {
		if all[path] = p.MustAsk("GET", path).Body; len(all[path]) < 20 {
			t.Errorf("%s answers %q", path, all[path])
		}
	}
	for _, flags := range [][]string{{"-status"}, {"-convert", "-config=" + h.Manifests}, {"-dry_run", "-config=" + h.Manifests}} {
		if flags[0] == "-convert" {
			h.Remove("bad", "worse")
		}
		r := h.Run(flags...)
		all[flags[0]] = r.Stdout + r.Stderr
	}
	for _, c := range h.Containers() {
		all["labels of "+c.Name] = fmt.Sprint(c.Labels)
	}
	for where, text := range all {
		for _, form := range []string{canary, canary[:8], base64.StdEncoding.EncodeToString([]byte(canary))} {
			if strings.Contains(text, form) {
				t.Errorf("%s shows the value of a Secret:\n%s", where, text)
			}
		}
	}
	unittest.Says(t, errors.New(all["-convert"]), "it needs Secret web, which is printed nowhere", "kind: ConfigMap")
}
