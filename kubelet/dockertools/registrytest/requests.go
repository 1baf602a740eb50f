package registrytest

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"
)

// pull is the request that a pull begins with.
type pull struct {
	image string // such as web:1
	at    time.Time
}

// Pulls returns when pulls of these images began, such as web:1, or of all images
// without a name. Failed ones are among them, but not those that did not reach the
// registry or ended with its question for a password, nor those by digest.
func (r *Registry) Pulls(repoTags ...string) []time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	var times []time.Time
	for _, p := range r.pulls {
		if len(repoTags) == 0 || slices.ContainsFunc(repoTags, func(name string) bool { return p.image == tagged(name) }) {
			times = append(times, p.at)
		}
	}
	return times
}

// count takes the question which manifest a tag stands for, a HEAD, as the
// beginning of a pull: Docker goes on only when it does not have that one.
func (r *Registry) count(req *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	repo, tag, isManifest := strings.Cut(strings.TrimPrefix(req.URL.Path, "/v2/"), "/manifests/")
	if isManifest && req.Method == http.MethodHead {
		r.pulls = append(r.pulls, pull{repo + ":" + tag, time.Now()})
	}
}

func isBlob(req *http.Request) bool {
	return req.Method == http.MethodGet && strings.Contains(req.URL.Path, "/blobs/")
}

// tagged names the tag of web, which is web:latest.
func tagged(image string) string {
	repo, tag, _ := strings.Cut(image, ":")
	return repo + ":" + cmp.Or(tag, "latest")
}
