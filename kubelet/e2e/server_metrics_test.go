package e2e

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	docker "github.com/fsouza/go-dockerclient"
)

// scraped is what /metrics says, a sample a line.
type scraped string

// scrape asks a kubelet that serves on a free port for /metrics.
func (p *process) scrape() (scraped, error) {
	p.t.Helper()
	page, err := get(p.infoPort(), "/metrics")
	return scraped(page), err
}

// infoPort is where a kubelet serves that was started with -port=0.
func (p *process) infoPort() int {
	p.t.Helper()
	const words = "info server at http://127.0.0.1:"
	p.says(words)
	_, rest, _ := strings.Cut(p.log.String(), words)
	text, _, _ := strings.Cut(rest, "/")
	port, err := strconv.Atoi(text)
	if err != nil {
		p.t.Fatal(err)
	}
	return port
}

// sum adds the samples whose name and labels hold all of the words.
func (s scraped) sum(words ...string) (sum float64) {
lines:
	for line := range strings.Lines(string(s)) {
		for _, word := range words {
			if strings.HasPrefix(line, "#") || !strings.Contains(line, word) {
				continue lines
			}
		}
		value, err := strconv.ParseFloat(strings.TrimSpace(line[strings.LastIndex(line, " "):]), 64)
		if err == nil {
			sum += value
		}
	}
	return sum
}

// says compares sums; each is named by the words of its samples.
func (s scraped) says(want map[string]float64) error {
	for words, value := range want {
		if got := s.sum(strings.Fields(words)...); got != value {
			return fmt.Errorf("%s: %v, want %v", words, got, value)
		}
	}
	return nil
}

func TestIntegrationMetrics(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.write("one.yaml", sleeper("one"))
	h.write("two.yaml", sleeper("two"))
	h.write("bad.yaml", job("bad", `/hello, exit, "3"`))
	p := h.startServing().p
	says := func(want map[string]float64) func() error {
		return func() error {
			page, err := p.scrape()
			if err == nil {
				err = page.says(want)
			}
			return err
		}
	}
	h.eventually("what became of the pods is told", says(map[string]float64{
		`kubelet_pods{ source="file" phase="running"`:                                               2,
		`kubelet_pods{ source="file" phase="failed"`:                                                1,
		`kubelet_pods{ source="file" phase="pending"`:                                               0,
		`kubelet_containers{ state="running"`:                                                       4, // two network containers
		`kubelet_containers{ state="terminated"`:                                                    2,
		`kubelet_container_restarts_total{`:                                                         0,
		`kubelet_source_pods{ source="file"`:                                                        3,
		`kubelet_docker_request_duration_seconds_count{ "POST /containers/{id}/start" outcome="ok"`: 6,
		`kubelet_image_pull_duration_seconds_count{`:                                                0,
		`kubelet_docker_up `:                                                                        1,
		`kubelet_healthy `:                                                                          1,
	}))

	if err := h.docker.KillContainer(docker.KillContainerOptions{ID: h.live("one", "main").id}); err != nil {
		t.Fatal(err)
	}
	h.eventually("a restart is told", says(map[string]float64{
		`kubelet_container_restarts_total{ pod="one" container="main"`: 1,
		`kubelet_container_restarts_total{`:                            1,
	}))

	page, err := p.scrape()
	if err != nil {
		t.Fatal(err)
	}
	for _, words := range [][]string{
		{"kubelet_pod_sync_duration_seconds_count{", `outcome="ok"`},
		{"kubelet_docker_request_duration_seconds_count{", `"GET /containers/json"`},
		{"kubelet_events_total "},
		{"process_resident_memory_bytes "},
		{"kubelet_http_requests_total{", `code="200"`, `path="/metrics"`},
	} {
		if page.sum(words...) < 1 {
			t.Errorf("nothing is told of %q\n%s", words, page)
		}
	}
	for _, c := range h.containers() {
		if strings.Contains(string(page), c.id) || strings.Contains(string(page), c.id[:12]) {
			t.Errorf("the id of %s is told\n%s", c, page)
		}
	}

	// A file that cannot be read is told, and no pod is lost by it.
	h.write("one.yaml", strings.Replace(sleeper("one"), "image", "imgae", 1))
	h.eventually("the source fails", says(map[string]float64{`kubelet_source_failing{ source="file"`: 1, `kubelet_pods{`: 3}))

	// The numbers of the attempts are Docker's, so they outlive the kubelet.
	p.stop()
	h.write("one.yaml", sleeper("one"))
	p = h.startServing().p
	h.eventually("the next kubelet tells of the restart", says(map[string]float64{
		`kubelet_container_restarts_total{ pod="one" container="main"`: 1,
		`kubelet_docker_request_duration_seconds_count{ /start"`:       0,
	}))
}
