package minions

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"kubelet14/api"
	"kubelet14/config"
)

const tablePatience = 30 * time.Second // to read all records

// states are the states of hosts, worst first.
var states = []string{"silent", "unreadable", "unhealthy", "stopped", "up"}

// host is a row of the table.
type host struct {
	Record
	name, state, problems string
	wrong                 bool // has a problem
}

// Table returns the table of all hosts that ever wrote a record, worst first. The error says how many hosts are not as they
// should be. Both are safe to print to a terminal.
func Table(ctx context.Context, etcd *config.Etcd) (string, error) {
	client, err := etcd.Client(ctx)
	if err != nil {
		return "", fmt.Errorf("read the status of all hosts: %w", etcd.Explain(ctx, err, "a login", ""))
	}
	answer, cancel := context.WithTimeout(ctx, tablePatience)
	defer cancel()
	records, err := client.Txn(answer).Then(
		clientv3.OpGet(knownPrefix, clientv3.WithPrefix()),
		clientv3.OpGet(livePrefix, clientv3.WithPrefix()),
	).Commit()
	if err != nil {
		rights := fmt.Sprintf("read --prefix %s and the same with %s", livePrefix, knownPrefix)
		return "", fmt.Errorf("read the status of all hosts: %w", etcd.Explain(ctx, err, "a read of the records", rights))
	}
	byName := map[string]host{}
	for i, prefix := range []string{knownPrefix, livePrefix} { // a live record overrides the one that stays
		for _, kv := range records.Responses[i].GetResponseRange().Kvs {
			name := strings.TrimPrefix(string(kv.Key), prefix)
			byName[name] = newHost(name, kv.Value, prefix == livePrefix)
		}
	}
	hosts := slices.SortedFunc(maps.Values(byName), func(a, b host) int {
		return cmp.Or(cmp.Compare(slices.Index(states, a.state), slices.Index(states, b.state)),
			cmp.Compare(b.Total-b.Up, a.Total-a.Up), cmp.Compare(b.SourceError, a.SourceError), cmp.Compare(a.name, b.name))
	})
	return format(hosts)
}

// newHost parses a record. It may contain any text, since another host wrote it.
func newHost(name string, value []byte, live bool) host {
	h := host{name: name, state: "up"}
	err := json.Unmarshal(value, &h.Record)
	switch {
	case err != nil || h.Health == "" || h.Up < 0 || h.Up > h.Total:
		return host{name: name, state: "unreadable", wrong: true, problems: clean(fmt.Sprintf("this is not a record of a kubelet: %s", value))}
	case h.Health == stopped:
		h.state = "stopped"
	case !live:
		h.state = "silent"
	case h.Health != healthy:
		h.state = "unhealthy"
	}
	var problems []string
	for _, text := range append([]string{h.Health, h.SourceError}, h.Failing...) {
		if text != "" && text != healthy && text != stopped {
			problems = append(problems, text)
		}
	}
	if more := h.Total - h.Up - len(h.Failing); more > 0 {
		word := "pending"
		if len(h.Failing) >= maxFailing {
			word = "more"
		}
		problems = append(problems, fmt.Sprintf("%d %s", more, word))
	}
	h.wrong = h.state != "up" || len(problems) > 0
	certificate := api.Certificate{Name: "kubelet", NotAfter: h.Expires}
	if warning := certificate.Warning(time.Now()); warning != "" && !h.Expires.IsZero() {
		problems = append(problems, warning)
	}
	h.problems = clean(strings.Join(problems, "; "))
	return h
}

// clean makes a text from another host short and safe to print.
func clean(text string) string { return api.OneLine(api.Shorten(text, maxRecordBytes)) }

func format(hosts []host) (string, error) {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "HOST\tSTATE\tSINCE\tPODS\tREVISION\tVERSION\tPROBLEMS")
	var up, wrong, podsUp, pods int
	for _, h := range hosts {
		since := "-"
		switch h.state {
		case "up":
			up, podsUp, pods = up+1, podsUp+h.Up, pods+h.Total
		case "silent", "stopped":
			since = h.Time.Local().Format(time.RFC3339)
		}
		if h.wrong {
			wrong++
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%d of %d\t%d\t%s\t%s\n",
			clean(h.name), h.state, since, h.Up, h.Total, h.Revision, cmp.Or(clean(h.Version), "-"), cmp.Or(h.problems, "-"))
	}
	table.Flush()
	fmt.Fprintf(&text, "\n%d of %s are up, and on these %d of %s\n", up, api.Count(len(hosts), "host"), podsUp, api.Count(pods, "pod"))
	switch {
	case len(hosts) == 0:
		return "", errors.New("no kubelet has written its status to this etcd: give them -etcd_status")
	case wrong > 0:
		return text.String(), fmt.Errorf("not as they should be: %d of %s; the table says why", wrong, api.Count(len(hosts), "host"))
	}
	return text.String(), nil
}
