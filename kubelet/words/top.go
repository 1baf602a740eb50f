package words

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/docker/go-units"
	"golang.org/x/sync/errgroup"

	"kubelet14/api"
	"kubelet14/kubelet/client"
)

const topInterval, topLimit = time.Second, 16 // between two measurements, and how many are made at once

// usage is what a container uses, or a pod with all of its containers.
type usage struct {
	name, problem string
	cpu           float64 // thousandths of a core since the measurement before
	stats         stats
	containers    []*usage
}

// stats are what the info server measures, as cAdvisor writes it.
type stats struct {
	Name      string // a container's own, which is another one after a restart
	Timestamp time.Time
	CPU       struct{ Usage api.CPUStats }
	Memory    struct {
		WorkingSet int64 `json:"working_set"`
	}
}

func top(fs *flag.FlagSet) func(context.Context, *call) error {
	watch := fs.Bool("w", false, "measure again and again, until Ctrl-C")
	return func(ctx context.Context, c *call) error {
		before := map[string]stats{}
		table := func(ctx context.Context) (text, tag string, err error) {
			if len(before) == 0 {
				if _, err := c.measure(ctx, before); err != nil {
					return "", "", err
				}
				select {
				case <-time.After(topInterval):
				case <-ctx.Done():
				}
			}
			pods, err := c.measure(ctx, before)
			return usageTable(pods), "", err
		}
		if *watch {
			return client.Watch(ctx, c.Out, c.Terminal, topInterval, table)
		}
		text, _, err := table(ctx)
		fmt.Fprint(c.Out, text)
		return err
	}
}

// measure measures the running containers of each pod, the busiest first, and keeps the stats for the next measurement.
func (c *call) measure(ctx context.Context, before map[string]stats) (pods []*usage, err error) {
	cl, statuses, err := c.pods(ctx)
	var measuring errgroup.Group
	measuring.SetLimit(topLimit)
	for _, status := range statuses {
		pod := &usage{name: status.FullName()}
		for _, container := range status.Containers {
			if container.State.Running == nil || container.Name == api.NetworkContainerName {
				continue
			}
			u := &usage{name: container.Name}
			pod.containers = append(pod.containers, u)
			measuring.Go(func() error { return u.measure(ctx, cl, "/stats/"+pod.name+"/"+u.name) })
		}
		if pod.containers != nil {
			pods = append(pods, pod)
		}
	}
	if err := cmp.Or(err, measuring.Wait()); err != nil {
		return nil, err
	}
	for _, pod := range pods {
		for _, u := range pod.containers {
			old := before[u.stats.Name]
			used, took := u.stats.CPU.Usage.Total-old.CPU.Usage.Total, u.stats.Timestamp.Sub(old.Timestamp)
			if old.Name != "" && took > 0 && u.stats.CPU.Usage.Total >= old.CPU.Usage.Total { // else Docker has restarted it
				u.cpu = 1000 * float64(used) / float64(took)
			}
			before[u.stats.Name] = u.stats
			pod.cpu, pod.stats.Memory.WorkingSet = pod.cpu+u.cpu, pod.stats.Memory.WorkingSet+u.stats.Memory.WorkingSet
		}
		slices.SortStableFunc(pod.containers, byUsage)
	}
	slices.SortStableFunc(pods, byUsage)
	return pods, nil
}

func byUsage(a, b *usage) int {
	return cmp.Or(cmp.Compare(b.cpu, a.cpu), cmp.Compare(b.stats.Memory.WorkingSet, a.stats.Memory.WorkingSet))
}

// measure measures one container. That it has just ended is a problem and no error.
func (u *usage) measure(ctx context.Context, cl *client.Client, path string) error {
	var answer struct {
		Name  string
		Stats []stats
	}
	if err := cl.Get(ctx, path, url.Values{"num_stats": {"1"}}, &answer); err != nil {
		u.problem = err.Error()
	}
	if n := len(answer.Stats); n > 0 {
		u.stats = answer.Stats[n-1]
		u.stats.Name = answer.Name
	}
	return ctx.Err()
}

func usageTable(pods []*usage) string {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "POD / CONTAINER\tCPU (1000m: a core)\tMEMORY\t")
	write := func(name string, u *usage) {
		fmt.Fprintf(table, "%s\t%.0fm\t%s\t%s\n", name, u.cpu, units.BytesSize(float64(u.stats.Memory.WorkingSet)), api.OneLine(u.problem))
	}
	for _, pod := range pods {
		write(pod.name, pod)
		for _, u := range pod.containers {
			write("  "+u.name, u)
		}
	}
	table.Flush()
	return api.Printable(text.String())
}
