package words

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet/server"
)

const maxEvents = 20 // that describe prints

func describe(*flag.FlagSet) func(context.Context, *call) error {
	return func(ctx context.Context, c *call) error {
		cl, pod, err := c.pod(ctx)
		if err != nil {
			return err
		}
		var events struct{ Items []api.Event }
		if err := cl.Get(ctx, "/events", nil, &events); err != nil {
			return err
		}
		if err := cl.Hidden(); err != nil {
			fmt.Fprintf(c.Err, "kubelet14: %v\n", err)
		}
		var text strings.Builder
		d := &description{tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)}
		d.pod(pod)
		for i := range pod.Containers {
			d.container(&pod.Containers[i])
		}
		d.events(slices.DeleteFunc(events.Items, func(e api.Event) bool { return e.Pod != pod.FullName() }))
		d.table.Flush()
		_, err = fmt.Fprint(c.Out, api.Printable(text.String()))
		return err
	}
}

type description struct{ table *tabwriter.Writer }

// line writes one property, unless it is empty.
func (d *description) line(name, value string) {
	if value != "" {
		fmt.Fprintf(d.table, "%s:\t%s\n", name, api.OneLine(value))
	}
}

func (d *description) pod(p *api.PodStatus) {
	var ports, volumes []string
	for _, port := range p.Ports {
		ports = append(ports, server.PortText(port))
	}
	for _, v := range p.Volumes {
		source, _ := json.Marshal(v.Source)
		volumes = append(volumes, v.Name+" "+string(source))
	}
	d.line("Pod", p.FullName())
	d.line("UID", p.UID)
	d.line("Manifest", p.Origin)
	d.line("It cannot be read", p.SourceError)
	d.line("State", string(p.Phase))
	d.line("Ready", fmt.Sprint(p.Ready))
	d.line("Reason", server.Join(p.Reason, p.Message))
	d.line("IP", p.PodIP)
	d.line("Ports", strings.Join(ports, ", "))
	d.line("Volumes", strings.Join(volumes, ", "))
}

func (d *description) container(c *api.ContainerStatus) {
	state, since, problem := server.Describe(*c)
	fmt.Fprintf(d.table, "\nContainer %s:\n", c.Name)
	d.line("  State", state)
	if !since.IsZero() {
		d.line("  Since", local(since))
	}
	d.line("  Ready", fmt.Sprint(c.Ready))
	d.line("  Reason", problem)
	if c.Last != nil {
		d.line("  Before", server.Join(server.ExitText(c.Last), c.Last.Message)+" at "+local(c.Last.FinishedAt))
	}
	d.line("  Restarts", fmt.Sprint(c.RestartCount))
	d.line("  Image", c.Image+" "+c.ImageID)
	d.line("  Container ID", c.ContainerID)
}

func (d *description) events(events []api.Event) {
	fmt.Fprintln(d.table, "\nLast events since the start of the kubelet:")
	for _, e := range events[max(0, len(events)-maxEvents):] {
		fmt.Fprintf(d.table, "  %s\t%s\t%s\t%s\n", local(e.Time), e.Container, e.Reason, api.OneLine(e.Message))
	}
}

func local(t time.Time) string { return t.Local().Format(time.DateTime) }
