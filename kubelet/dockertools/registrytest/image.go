package registrytest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// Image is one that was pushed.
type Image struct {
	Ref      string // what to pull: 127.0.0.1:40123/web:1
	ByDigest string // the same for ever: 127.0.0.1:40123/web@sha256:...
	ID       string // what Docker calls it after the pull: sha256:...
}

// Push makes an image and gives it a name, such as web:1, which it takes from the
// image that had it. The image runs `/hello sleep`, or whatever else the program of
// manifests/hello can do. Its layer has 3 MB to fetch, and is new to Docker, even if
// the same test runs twice.
func (r *Registry) Push(repoTag string) Image {
	r.tb.Helper()
	repo, tag, _ := strings.Cut(tagged(repoTag), ":")
	content := rand.Text()
	image, err := newImage(content)
	check(r.tb, err)
	layers, err := image.Layers()
	check(r.tb, err)
	for _, layer := range layers {
		digest, err := layer.Digest()
		check(r.tb, err)
		data, err := layer.Compressed()
		check(r.tb, err)
		r.putBlob(repo, digest, data)
	}
	id, err := image.ConfigName()
	check(r.tb, err)
	config, err := image.RawConfigFile()
	check(r.tb, err)
	r.putBlob(repo, id, bytes.NewReader(config))

	digest, err := image.Digest()
	check(r.tb, err)
	manifest, err := image.RawManifest()
	check(r.tb, err)
	mediaType, err := image.MediaType()
	check(r.tb, err)
	r.put(http.MethodPut, fmt.Sprintf("/v2/%s/manifests/%s", repo, tag), string(mediaType), bytes.NewReader(manifest))
	return Image{
		Ref:      fmt.Sprintf("%s/%s:%s", r.address, repo, tag),
		ByDigest: fmt.Sprintf("%s/%s@%s", r.address, repo, digest),
		ID:       id.String(),
	}
}

func (r *Registry) putBlob(repo string, digest v1.Hash, data io.Reader) {
	r.tb.Helper()
	r.put(http.MethodPost, fmt.Sprintf("/v2/%s/blobs/uploads/?digest=%s", repo, digest), "application/octet-stream", data)
}

// put goes straight to the library: no password, no fault and no count is in its way.
func (r *Registry) put(method, path, mediaType string, data io.Reader) {
	r.tb.Helper()
	req := httptest.NewRequest(method, path, data)
	req.Header.Set("Content-Type", mediaType)
	answer := httptest.NewRecorder()
	r.images.ServeHTTP(answer, req)
	if answer.Code != http.StatusCreated {
		r.tb.Fatalf("push %s: %d %s", path, answer.Code, answer.Body)
	}
}

func newImage(content string) (v1.Image, error) {
	hello, err := helloProgram()
	if err != nil {
		return nil, err
	}
	layer, err := newLayer(map[string][]byte{"hello": hello, "content": []byte(content)})
	if err != nil {
		return nil, err
	}
	image, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", runtime.GOARCH
	config.Created = v1.Time{Time: time.Now()}
	config.Config.Cmd = []string{"/hello", "sleep"}
	config.Config.Labels = map[string]string{label: "true"}
	return mutate.ConfigFile(image, config)
}

// newLayer makes a layer of executable files.
func newLayer(files map[string][]byte) (v1.Layer, error) {
	var layer bytes.Buffer
	w := tar.NewWriter(&layer)
	for name, data := range files {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(data))}); err != nil {
			return nil, err
		}
		if _, err := w.Write(data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(layer.Bytes())), nil }
	return tarball.LayerFromOpener(open, tarball.WithCompressionLevel(gzip.BestSpeed), tarball.WithCompressedCaching)
}

// helloProgram builds the program of manifests/hello, once.
var helloProgram = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "registrytest-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "hello")
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", program, "kubelet14/manifests/hello")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+runtime.GOARCH)
	if output, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build hello: %w\n%s", err, output)
	}
	return os.ReadFile(program)
})
