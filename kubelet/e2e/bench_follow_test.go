package e2e

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	docker "github.com/fsouza/go-dockerclient"
)

// BenchmarkFollow follows the logs of 50 containers that print about 20 lines a second
// each, and says what part of a core the kubelet uses for 1,000 lines a second, besides
// what it uses when nobody follows them. Its rival follows the same logs straight from
// Docker, and does nothing with a line but pass it on.
func BenchmarkFollow(b *testing.B) {
	const followers, linesASecond = 50, 20
	h := newHost(b)
	for i := range followers {
		h.write(fmt.Sprintf("p%d.yaml", i), job(fmt.Sprintf("p%d", i), fmt.Sprintf(`/hello, flood, -lines, "1000000", -every, %v`, time.Second/linesASecond)))
	}
	w := h.startServing()
	h.eventually("all pods run", func() error {
		page, err := w.p.scrape()
		if err == nil {
			err = page.says(map[string]float64{"kubelet_pods{ running": followers})
		}
		return err
	})
	rival := h.startRelay()
	for range b.N {
		idle := cpuShare(b, w.p.cpuSeconds)
		ours, rate := follow(b, followers, w.p.cpuSeconds, func(ctx context.Context, pod int) (*http.Response, error) {
			return w.request(ctx, http.MethodGet, fmt.Sprintf("/containerLogs/default/p%d/main?follow=1&tail=0", pod))
		})
		bare, bareRate := follow(b, followers, rival.cpuSeconds, rival.follow)
		ours, bare = (ours-idle)*1000/rate, bare*1000/bareRate
		b.ReportMetric(100*ours, "%-of-a-core")
		b.ReportMetric(ours/bare, "kubelet/relay")
		b.ReportMetric(100*idle, "%-idle")
		b.ReportMetric(rate, "lines/s")
	}
	b.ReportMetric(0, "ns/op")
}

// follow follows the log of each pod, and says what part of a core that takes, and how
// many lines come in a second.
func follow(b *testing.B, pods int, cpu func(*testing.B) float64, open func(ctx context.Context, pod int) (*http.Response, error)) (share, rate float64) {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context())
	var lines atomic.Int64
	var all, standing sync.WaitGroup
	for i := range pods {
		standing.Add(1)
		all.Go(func() {
			resp, err := open(ctx, i)
			standing.Done()
			if err != nil {
				b.Error(err)
				return
			}
			defer resp.Body.Close()
			if resp.StatusCode != http.StatusOK {
				b.Errorf("the log of pod p%d: %s", i, resp.Status)
			}
			for scanner := bufio.NewScanner(resp.Body); scanner.Scan(); {
				lines.Add(1)
			}
		})
	}
	standing.Wait()
	before, began := lines.Load(), time.Now()
	share = cpuShare(b, cpu)
	rate = float64(lines.Load()-before) / time.Since(began).Seconds()
	cancel()
	all.Wait()
	return share, rate
}

// cpuShare is the part of a core that a process uses in a while.
func cpuShare(b *testing.B, cpuSeconds func(*testing.B) float64) float64 {
	b.Helper()
	before, began := cpuSeconds(b), time.Now()
	time.Sleep(15 * time.Second)
	return (cpuSeconds(b) - before) / time.Since(began).Seconds()
}

func (p *process) cpuSeconds(b *testing.B) float64 {
	b.Helper()
	page, err := p.scrape()
	if err != nil {
		b.Fatal(err)
	}
	return page.sum("process_cpu_seconds_total ")
}

// relayVariable has Docker's endpoint when this program is to be a relay.
const relayVariable = "KUBELET14_TEST_RELAY"

// serveRelay passes requests on to Docker, and each piece of an answer as it comes,
// until its standard input ends.
func serveRelay(endpoint string) {
	network, address := "unix", strings.TrimPrefix(endpoint, "unix://")
	if address == endpoint {
		network, address = "tcp", endpoint[strings.Index(endpoint, "://")+len("://"):]
	}
	mux := http.NewServeMux()
	mux.Handle("/", &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: "http", Host: "docker"}) },
		Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, address)
		}},
		FlushInterval: -1,
	})
	mux.HandleFunc("/cpu", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, cpuTime().Seconds()) })
	server := httptest.NewServer(mux)
	fmt.Println(server.URL)
	io.Copy(io.Discard, os.Stdin)
}

// relay is a process that passes on what Docker says.
type relay struct {
	url        string
	containers []string // the id of pod pN's, by N
}

// startRelay starts one, which ends with the test, for the pods that run.
func (h *host) startRelay() *relay {
	h.t.Helper()
	r := &relay{}
	for i := 0; ; i++ {
		list, err := h.docker.ListContainers(docker.ListContainersOptions{Filters: map[string][]string{
			"label": {"kubelet14.hostname=" + h.hostname}, "name": {fmt.Sprintf("^/k8s_main[.][0-9a-f]+_p%d[.]", i)},
		}})
		if err != nil {
			h.t.Fatal(err)
		}
		if len(list) == 0 {
			break
		}
		r.containers = append(r.containers, list[0].ID)
	}
	program, err := os.Executable()
	if err != nil {
		h.t.Fatal(err)
	}
	process := exec.Command(program)
	process.Env = append(os.Environ(), relayVariable+"="+h.docker.Endpoint())
	process.Stderr = os.Stderr
	in, err := process.StdinPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	out, err := process.StdoutPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() {
		in.Close()
		if err := process.Wait(); err != nil {
			h.t.Errorf("the relay ended with %v", err)
		}
	})
	if _, err := fmt.Fscanln(out, &r.url); err != nil {
		h.t.Fatal(err)
	}
	return r
}

func (r *relay) follow(ctx context.Context, pod int) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url+"/containers/"+r.containers[pod]+"/logs?follow=1&stdout=1&stderr=1&timestamps=1&tail=0", nil)
	if err != nil {
		return nil, err
	}
	return http.DefaultClient.Do(req)
}

func (r *relay) cpuSeconds(b *testing.B) float64 {
	b.Helper()
	resp, err := http.Get(r.url + "/cpu")
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		b.Fatal(err)
	}
	seconds, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		b.Fatal(err)
	}
	return seconds
}
