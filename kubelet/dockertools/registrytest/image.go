package registrytest

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing/fstest"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"kubelet14/api/unittest"
	"kubelet14/kubelet/dockertools"
)

// Image is one that was pushed.
type Image struct {
	Ref      string // what to pull: 127.0.0.1:40123/web:1
	ByDigest string // the same for ever: 127.0.0.1:40123/web@sha256:...
	ID       string // what Docker calls it after the pull, sha256:..., unless containerd has the images: they go by their digests
}

// Push makes an image and gives it a name, such as web:1, which it takes from the
// image that had it. The image runs `/hello sleep`, or whatever else the program of
// manifests/hello can do. Its layer has 3 MB to fetch, and is new to Docker, even if
// the same test runs twice. No password and no fault is in its way.
func (r *Registry) Push(repoTag string) Image {
	r.tb.Helper()
	ref, err := name.NewTag(r.address + "/" + repoTag)
	unittest.Must(r.tb, err)
	image, err := newImage()
	unittest.Must(r.tb, err)
	unittest.Must(r.tb, remote.Write(ref, image, remote.WithTransport(handlerTransport{r.images})))
	digest, err := image.Digest()
	unittest.Must(r.tb, err)
	id, err := image.ConfigName()
	unittest.Must(r.tb, err)
	return Image{ref.String(), ref.Digest(digest.String()).String(), id.String()}
}

// handlerTransport sends requests to a handler, without a server.
type handlerTransport struct{ http.Handler }

func (h handlerTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	served := req.Clone(req.Context())
	if req.Body == nil { // as it is for a client, but never for a server
		served.Body = http.NoBody
	}
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, served)
	response := answer.Result()
	response.Request = req
	return response, nil
}

func newImage() (v1.Image, error) {
	hello, err := helloProgram()
	if err != nil {
		return nil, err
	}
	var files bytes.Buffer
	other := rand.Text() // no other layer has this file
	if err := dockertools.WriteLayer(&files, fstest.MapFS{other: {}, "hello": hello}); err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files.Bytes())), nil }
	layer, err := tarball.LayerFromOpener(open, tarball.WithCompressionLevel(gzip.BestSpeed), tarball.WithCompressedCaching)
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
