package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/distribution/reference"

	"kubelet14/kubelet/dockertools"
)

// Docker Hub has many names. Image references know it by the first, Docker's
// configuration and the credential helpers by the second.
const (
	hub       = "docker.io"
	hubServer = "https://index.docker.io/v1/"
)

var hubAliases = []string{hub, "index.docker.io", "registry-1.docker.io"}

// Keyring finds the credentials for an image: in Docker's own config.json, then in
// a .dockercfg. It reads them again at each Lookup, for pulls are rare and a changed
// file counts at once; 2014 read its file once, at its start.
//
// Any number of goroutines may use it.
type Keyring struct {
	files       []string // the first that knows the image counts
	helperLimit time.Duration
}

// NewKeyring makes a Keyring of the config.json in dockerConfigDir and the file
// dockercfg. An empty dockerConfigDir is that of the docker command. Neither file needs
// to exist.
func NewKeyring(dockerConfigDir, dockercfg string) *Keyring {
	dir := cmp.Or(dockerConfigDir, configDir())
	return &Keyring{[]string{filepath.Join(dir, "config.json"), dockercfg}, helperLimit}
}

// configDir is where the docker command keeps what is this user's: $DOCKER_CONFIG, else
// .docker in the home, also when systemd has set no $HOME.
func configDir() string {
	return cmp.Or(os.Getenv("DOCKER_CONFIG"), filepath.Join(home(), ".docker"))
}

// home is the home of this user, or / of one who has none, as a process in a
// container can be.
func home() string {
	if dir, err := os.UserHomeDir(); err == nil {
		return dir
	}
	if this, err := user.Current(); err == nil && this.HomeDir != "" {
		return this.HomeDir
	}
	return "/"
}

// Lookup finds what to show the registry of an image; the zero Auth when nothing
// is known. It may run a credential helper, and ends it when ctx is done.
//
// A file, entry or helper that is broken is an error, and the Auth is then that of
// the next file: warn, and go on with it. No error holds a secret.
func (k *Keyring) Lookup(ctx context.Context, image string) (dockertools.Auth, error) {
	named, err := reference.ParseNormalizedNamed(image)
	if err != nil {
		return dockertools.Auth{}, fmt.Errorf("read the image name %q: %w", image, err)
	}
	name := registryPath(named.Name())
	var problems []error
	for _, path := range k.files {
		auth, err := lookupIn(ctx, path, name, k.helperLimit)
		if err != nil {
			problems = append(problems, err)
		}
		if auth != (dockertools.Auth{}) {
			return auth, errors.Join(problems...)
		}
	}
	return dockertools.Auth{}, errors.Join(problems...)
}

// lookupIn looks in one file, and asks the helper that it names.
func lookupIn(ctx context.Context, path, name string, limit time.Duration) (dockertools.Auth, error) {
	config, err := readDockerConfig(path)
	if err != nil {
		return dockertools.Auth{}, err
	}
	program, reach := config.CredsStore, 0
	if keys := matching(name, config.CredHelpers); len(keys) > 0 {
		program = config.CredHelpers[keys[0]]
		reach = len(registryPath(keys[0]))
	}
	for _, key := range matching(name, config.Auths) {
		if program != "" && len(registryPath(key)) <= reach {
			break // the helper is named for as much of the image, and Docker asks it alone
		}
		auth, err := decodeEntry(config.Auths[key])
		if err != nil {
			return dockertools.Auth{}, fmt.Errorf("read the credentials for %q in %q: %w", key, path, err)
		}
		if auth != (dockertools.Auth{}) { // `docker login` leaves an empty entry when a helper keeps the rest
			auth.ServerAddress = serverOf(name)
			return auth, nil
		}
	}
	if program == "" {
		return dockertools.Auth{}, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("no answer within %v", limit))
	defer cancel()
	auth, err := askHelper(ctx, program, serverOf(name))
	if err != nil {
		return dockertools.Auth{}, fmt.Errorf("ask docker-credential-%s, which %q names, for the credentials of %q: %w", program, path, serverOf(name), err)
	}
	return auth, nil
}

// matching are the keys that an image lies under, the longest first: host, or host
// and the first parts of the path, each of them whole. 2014 compared letters, and
// the credentials of bar.example.com/pong were sent for bar.example.com/pongz too.
func matching[T any](name string, entries map[string]T) []string {
	var keys []string
	for key := range entries {
		if strings.HasPrefix(name+"/", registryPath(key)+"/") {
			keys = append(keys, key)
		}
	}
	// One place can be spelled in several ways. Docker's own spelling is the newest.
	foreign := func(key string) int {
		if key == serverOf(name) {
			return 0
		}
		return 1
	}
	slices.SortFunc(keys, func(a, b string) int {
		return cmp.Or(len(registryPath(b))-len(registryPath(a)), foreign(a)-foreign(b), strings.Compare(a, b))
	})
	return keys
}

// registryPath is the one spelling of a key or of an image's name: without scheme,
// without the API's version, and with one name for Docker Hub.
func registryPath(key string) string {
	key = strings.TrimPrefix(strings.TrimPrefix(key, "https://"), "http://")
	host, path, _ := strings.Cut(strings.TrimRight(key, "/"), "/")
	if slices.Contains(hubAliases, host) {
		host = hub
	}
	if path == "" || path == "v1" || path == "v2" {
		return host
	}
	return host + "/" + path
}

// serverOf is the registry of a registryPath, as Docker and its helpers spell it.
func serverOf(name string) string {
	host, _, _ := strings.Cut(name, "/")
	if host == hub {
		return hubServer
	}
	return host
}
