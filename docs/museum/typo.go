package main

import (
	"os"
	"time"

	"sigs.k8s.io/yaml"

	"kubelet14/api"
	"kubelet14/api/v1"
	"kubelet14/config"
)

// typo is about lenient decoding: a misspelt field was just absent. The pod was then invalid and left
// out of the SET, and what is not in the SET is stopped. Issue #6594 asked in 2015 to keep what runs,
// and was closed. Today decoding is strict, and a bad file keeps its last good pods. Read input.load in
// config/source.go.
func typo(s *stage) {
	file := s.today.dir + "/web.yaml"
	write := func(field string) {
		must(os.WriteFile(file, []byte("version: v1beta1\nid: web\ncontainers:\n- name: main\n  "+field+": shop:1\n"), 0o600))
	}
	write("image")
	next := s.today.follow(config.NewSourceFile(file, time.Second, config.Parser{Scheme: v1.NewScheme()}))
	read := func() {
		text, err := os.ReadFile(file)
		must(err)
		var manifest api.ContainerManifest
		must(yaml.Unmarshal(text, &manifest)) // ignores unknown fields, as the library of then did
		pods := []api.Pod{podOf(manifest)}
		if manifest.Containers[0].Image == "" {
			s.then.notes = []string{"no image: the pod is invalid, and left out"}
			pods = nil
		}
		s.then.SyncPods(pods)
		next()
	}
	s.step("The file web.yaml is read.", read)
	write("imgae")
	s.step("Somebody writes imgae instead of image.", read)
}
