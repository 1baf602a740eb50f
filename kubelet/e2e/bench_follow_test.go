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
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// BenchmarkFollow follows the logs of 50 containers that print about 20 lines a second
// each. It reports the part of a core that each version uses for 1,000 lines a second,
// beside that of an idle one. The relay follows the same logs from Docker and only
// passes each line on.
func BenchmarkFollow(b *testing.B) {
	const followers, linesASecond = 50, 20
	all := versions(b)
	h := newBenchHost(b, all[0])
	for i := range followers {
		id := fmt.Sprintf("p%d", i)
		h.write(id, job(id, fmt.Sprintf(`/hello, flood, -lines, "1000000", -every, %v`, time.Second/linesASecond)))
	}
	p := h.start()
	ids := make([]string, followers)
	paths := make([]string, followers)
	for i := range ids {
		ids[i] = fmt.Sprintf("p%d", i)
		h.awaitUp(ids[i])
		paths[i] = "/containers/" + h.live(ids[i], "main").id + "/logs?follow=1&stdout=1&stderr=1&timestamps=1&tail=0"
	}
	relay, client := startRelay(b, h.docker.Endpoint())
	for range b.N {
		share, rate := follow(b, client, paths, func() float64 { return cpuOf(b, client) })
		bare := share * 1000 / rate
		for _, v := range all {
			p.kill()
			h.binary = v.binary
			p = h.start()
			p.awaitUp(ids...)
			for i, id := range ids {
				paths[i] = "/containerLogs/default/" + id + "/main?follow=1&tail=0"
			}
			idle := cpuShare(p.cpuSeconds)
			share, rate := follow(b, h.client(), paths, p.cpuSeconds)
			used := (share - idle) * 1000 / rate
			b.ReportMetric(100*used, v.name+"-%-of-a-core")
			b.ReportMetric(used/bare, v.name+"/relay")
			b.ReportMetric(100*idle, v.name+"-%-idle")
		}
	}
	relay()
	b.ReportMetric(0, "ns/op")
}

// follow follows logs, and returns the part of a core that this takes and the lines
// that come in a second.
func follow(b *testing.B, client *http.Client, paths []string, cpuSeconds func() float64) (share, rate float64) {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context())
	var lines atomic.Int64
	var all, begun sync.WaitGroup
	for _, path := range paths {
		begun.Add(1)
		all.Go(func() {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost"+path, nil)
			var resp *http.Response
			if err == nil {
				resp, err = client.Do(req)
			}
			begun.Done()
			if err != nil || resp.StatusCode != http.StatusOK {
				b.Errorf("%s: %v, %v", path, resp, err)
				return
			}
			defer resp.Body.Close()
			for scanner := bufio.NewScanner(resp.Body); scanner.Scan(); {
				lines.Add(1)
			}
		})
	}
	begun.Wait()
	before, began := lines.Load(), time.Now()
	share = cpuShare(cpuSeconds)
	rate = float64(lines.Load()-before) / time.Since(began).Seconds()
	cancel()
	all.Wait()
	return share, rate
}

// relayVariable holds Docker's endpoint when this program is to be a relay.
const relayVariable = "KUBELET14_TEST_RELAY"

// serveRelay passes requests on to Docker, and each piece of an answer as it comes,
// until its standard input ends.
func serveRelay(endpoint string) {
	mux := http.NewServeMux()
	mux.Handle("/", &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: "http", Host: "docker"}) },
		Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			network, address, _ := strings.Cut(endpoint, "://")
			return (&net.Dialer{}).DialContext(ctx, network, address)
		}},
		FlushInterval: -1,
	})
	mux.HandleFunc("/cpu", func(w http.ResponseWriter, _ *http.Request) {
		var usage syscall.Rusage
		syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
		fmt.Fprint(w, time.Duration(usage.Utime.Nano()+usage.Stime.Nano()).Seconds())
	})
	fmt.Println(httptest.NewServer(mux).Listener.Addr())
	io.Copy(io.Discard, os.Stdin)
}

// startRelay starts a relay and returns a client of it.
func startRelay(b *testing.B, endpoint string) (stop func(), client *http.Client) {
	b.Helper()
	must := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	relay := exec.Command(os.Args[0])
	relay.Env = append(os.Environ(), relayVariable+"="+endpoint)
	relay.Stderr = os.Stderr
	in, err := relay.StdinPipe()
	must(err)
	out, err := relay.StdoutPipe()
	must(err)
	must(relay.Start())
	address := ""
	_, err = fmt.Fscanln(out, &address)
	must(err)
	stop = sync.OnceFunc(func() {
		in.Close()
		relay.Wait()
	})
	b.Cleanup(stop)
	return stop, &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", address)
	}}}
}

func cpuOf(b *testing.B, relay *http.Client) (seconds float64) {
	b.Helper()
	resp, err := relay.Get("http://localhost/cpu")
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := fmt.Fscan(resp.Body, &seconds); err != nil {
		b.Fatal(err)
	}
	return seconds
}
