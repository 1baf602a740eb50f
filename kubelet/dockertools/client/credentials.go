package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/distribution/reference"
	"github.com/docker/cli/cli/config"
	"golang.org/x/sync/singleflight"

	"kubelet14/kubelet/dockertools"
)

// Keyring finds the credentials for an image: in Docker's config.json or from the credential helper that it names, or
// else in a .dockercfg, the file of 2014. It reads the files at each Lookup, so a change takes effect at once. Its
// methods may be called concurrently.
type Keyring struct {
	config, dockercfg string // paths
	limit             time.Duration
	lookups           singleflight.Group // by registry, so that a hanging helper runs only once
}

// NewKeyring returns a Keyring that reads config.json in dockerConfigDir, or if that is empty in the docker command's
// directory, and the file dockercfg. Neither file has to exist.
func NewKeyring(dockerConfigDir, dockercfg string) *Keyring {
	dir := cmp.Or(dockerConfigDir, config.Dir())
	return &Keyring{config: filepath.Join(dir, config.ConfigFileName), dockercfg: dockercfg, limit: 10 * time.Second}
}

// Lookup returns the credentials for the registry of an image, or the zero Auth if there are none. It returns after at
// most 10 seconds or when ctx is done, although the library waits for a credential helper for as long as that runs.
//
// Even with an error the Auth is valid: log the error and carry on. No error contains a secret.
func (k *Keyring) Lookup(ctx context.Context, image string) (dockertools.Auth, error) {
	named, err := reference.ParseNormalizedNamed(image)
	if err != nil {
		return dockertools.Auth{}, fmt.Errorf("read the image name %q: %w", image, err)
	}
	server := reference.Domain(named)
	if server == "docker.io" {
		server = "https://index.docker.io/v1/" // Docker Hub's name in Docker's configuration
	}
	ctx, cancel := context.WithTimeoutCause(ctx, k.limit, fmt.Errorf("no answer within %v", k.limit))
	defer cancel()
	select {
	case found := <-k.lookups.DoChan(server, func() (any, error) { return k.find(server) }):
		return found.Val.(dockertools.Auth), found.Err
	case <-ctx.Done():
		return dockertools.Auth{}, fmt.Errorf("look up the credentials for %q: %w", server, context.Cause(ctx))
	}
}

// find returns the credentials from the first file that has them, and the errors of the files before it.
func (k *Keyring) find(server string) (auth dockertools.Auth, err error) {
	for _, path := range []string{k.config, k.dockercfg} {
		found, findErr := k.findIn(path, server)
		if findErr != nil {
			err = errors.Join(err, fmt.Errorf("read the credentials for %q in %q: %w", server, path, findErr))
		}
		if found != (dockertools.Auth{}) {
			return found, err
		}
	}
	return dockertools.Auth{}, err
}

func (k *Keyring) findIn(path, server string) (dockertools.Auth, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return dockertools.Auth{}, nil
	}
	if err != nil {
		return dockertools.Auth{}, err
	}
	if path == k.dockercfg { // its whole content is the "auths" of a config.json
		data = fmt.Appendf(nil, `{"auths": %s}`, data)
	}
	file, err := config.LoadFromReader(bytes.NewReader(data))
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return dockertools.Auth{}, fmt.Errorf("not JSON at line %d", 1+bytes.Count(data[:max(syntax.Offset-1, 0)], []byte("\n")))
	}
	if err != nil { // err quotes the text that it cannot read, which may be a secret
		return dockertools.Auth{}, errors.New("malformed; `docker login` rewrites it")
	}
	found, err := file.GetAuthConfig(server)
	if err != nil { // err contains the output of the helper
		reason, _, ok := strings.Cut(err.Error(), ", out:")
		if !ok {
			reason = "the answer of the credential helper is malformed"
		}
		return dockertools.Auth{}, errors.New(reason)
	}
	if found.Username == "" && found.IdentityToken == "" {
		return dockertools.Auth{}, nil
	}
	return dockertools.Auth{Username: found.Username, Password: found.Password, IdentityToken: found.IdentityToken, ServerAddress: server}, nil
}
