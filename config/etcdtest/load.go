package etcdtest

import (
	"bufio"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Load is what the members of a cluster did in some time, as their metrics tell, and the CPU
// time of the test's own process. It shows what would be slow because of the machine.
type Load struct {
	Lists           float64 // and other reads, also those that failed
	ListsInASecond  float64 // in the second in which they were most
	Authentications float64 // by password
	Sent            float64 // bytes to clients
	CPU             float64 // seconds
	ProcessCPU      float64 // seconds
}

// LoadColumns is the head of a table of loads.
const LoadColumns = "  lists   in 1 s   logins     etcd's CPU  this process's"

// String returns the line of a table.
func (l Load) String() string {
	return fmt.Sprintf("%7.0f %8.0f %8.0f %12.1f s %12.1f s", l.Lists, l.ListsInASecond, l.Authentications, l.CPU, l.ProcessCPU)
}

// Measure begins to look at the members' metrics at the interval. The function that it
// returns ends this. Members may be killed and restarted meanwhile.
func (c Cluster) Measure(interval time.Duration) (end func() Load) {
	var total Load
	var times []time.Time
	var lists []float64 // at these times
	last := make([]map[string]float64, len(c))
	look := func(count float64) {
		for i, s := range c {
			now := s.metrics()
			if now == nil {
				continue
			}
			add := func(sum *float64, name string) {
				if now[startTime] == last[i][startTime] {
					*sum -= count * last[i][name]
				}
				*sum += count * now[name]
			}
			add(&total.Lists, `grpc_server_started_total{grpc_method="Range",grpc_service="etcdserverpb.KV",grpc_type="unary"}`)
			add(&total.Authentications, authentications)
			add(&total.Sent, "etcd_network_client_grpc_sent_bytes_total")
			add(&total.CPU, "process_cpu_seconds_total")
			last[i] = now
		}
		times, lists = append(times, time.Now()), append(lists, total.Lists)
		for i, at := range slices.Backward(times) {
			if took := time.Since(at).Seconds(); took >= 1 || i == 0 {
				total.ListsInASecond = max(total.ListsInASecond, (total.Lists-lists[i])/max(1, took))
				break
			}
		}
	}
	look(0)
	began := processCPU()
	ticker, ended := time.NewTicker(interval), make(chan struct{})
	var looking sync.WaitGroup
	looking.Go(func() {
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				look(1)
			case <-ended:
				return
			}
		}
	})
	return func() Load {
		close(ended)
		looking.Wait()
		look(1)
		total.ProcessCPU = processCPU() - began
		return total
	}
}

// Authentications returns how many by password the server has begun since its start.
func (s *Server) Authentications() float64 { return s.metrics()[authentications] }

const authentications = `grpc_server_started_total{grpc_method="Authenticate",grpc_service="etcdserverpb.Auth",grpc_type="unary"}`

// processCPU returns the seconds that this process has used.
func processCPU() float64 {
	var used syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano()).Seconds()
}

// startTime is the metric by which a restart is noticed: counters then begin at 0.
const startTime = "process_start_time_seconds"

// metrics returns what the server measures of itself, by name with labels, or nil if it does
// not answer.
func (s *Server) metrics() map[string]float64 {
	answer, err := s.http().Get(s.client + "/metrics")
	if err != nil {
		return nil
	}
	defer answer.Body.Close()
	values := map[string]float64{}
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		if i := strings.LastIndex(lines.Text(), " "); i > 0 {
			values[lines.Text()[:i]], _ = strconv.ParseFloat(lines.Text()[i+1:], 64) // a comment is 0
		}
	}
	return values
}
