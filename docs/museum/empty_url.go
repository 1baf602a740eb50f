package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"time"

	"sigs.k8s.io/yaml"

	"kubelet14/api"
	"kubelet14/api/v1"
	"kubelet14/config"
)

// emptyURL is about a body that is no manifest. It was decoded as a list. To the YAML library of then,
// {} was an empty list, and so was an error page of one line; and an empty list means that there are no
// pods. v0.7 changed the library. Today an answer has to say that there are no pods, as [] does.
// Everything else is an error, and changes nothing. Read config/http.go.
func emptyURL(s *stage) {
	var body atomic.Value
	body.Store(`[{version: v1beta1, id: web, containers: [{name: main, image: "shop:1"}]},
		{version: v1beta1, id: db, containers: [{name: main, image: "shop:1"}]}]`)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, body.Load().(string)) }))
	defer server.Close()
	source, err := config.NewSourceHTTP(server.URL, 10*time.Millisecond, config.Parser{Scheme: v1.NewScheme()})
	must(err)
	next := s.today.follow(source)
	get := func() {
		var pods []api.Pod
		var list []api.ContainerManifest
		yaml.Unmarshal([]byte(body.Load().(string)), &list) // the library of then had no error for what is no list
		for _, manifest := range list {
			pods = append(pods, podOf(manifest))
		}
		s.then.SyncPods(pods)
		next()
	}
	s.step("The URL answers with a list of two pods.", get)
	body.Store("{}")
	s.step("The URL answers {}.", get)
}
