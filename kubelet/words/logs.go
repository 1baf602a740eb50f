package words

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"kubelet14/api"
	"kubelet14/kubelet/client"
)

var errCut = errors.New("the log goes on, and cannot be followed: the kubelet has ended, or the connection to it; " +
	"the same command continues when the kubelet runs again")

func logs(fs *flag.FlagSet) func(context.Context, *call) error {
	name := fs.String("c", "", "`name` of the container; default is all of the pod")
	follow := fs.Bool("f", false, "go on with what comes, over restarts, until the pod is done or Ctrl-C")
	previous := fs.Bool("p", false, "print the log of the attempt before this one")
	tail := fs.String("tail", "all", "`lines` to print from the end")
	since := fs.String("since", "", "print lines from this `time` on, such as 5m ago or 2014-10-23T12:00:00Z")
	return func(ctx context.Context, c *call) error {
		cl, pod, err := c.pod(ctx)
		if err != nil {
			return err
		}
		l := &printer{call: c, client: cl, pod: pod.FullName(), query: url.Values{"tail": {*tail}, "since": {*since},
			"follow": {strconv.FormatBool(*follow)}, "previous": {strconv.FormatBool(*previous)}}}
		containers := apps(pod)
		if *name != "" || len(containers) == 1 {
			only, err := container(pod, *name)
			if err != nil {
				return err
			}
			return l.print(ctx, only, "")
		}
		return l.printAll(ctx, containers, *follow)
	}
}

// printer prints logs of containers of a pod.
type printer struct {
	*call
	client *client.Client
	pod    string // full name
	query  url.Values

	mu sync.Mutex // of a line
}

// printAll prints the logs of several containers, and their names before each line: one after the other, or those that are
// followed as lines come.
func (l *printer) printAll(ctx context.Context, containers []string, follow bool) error {
	width := 0
	for _, c := range containers {
		width = max(width, len(c))
	}
	errs := make([]error, len(containers))
	var printing sync.WaitGroup
	for i, c := range containers {
		printing.Go(func() { errs[i] = l.print(ctx, c, fmt.Sprintf("%-*s | ", width, c)) })
		if !follow {
			printing.Wait()
		}
	}
	printing.Wait()
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return errors.Join(slices.CompactFunc(errs, func(a, b error) bool { return fmt.Sprint(a) == fmt.Sprint(b) })...)
}

// print prints the log of a container, with a prefix before each line.
func (l *printer) print(ctx context.Context, container, prefix string) error {
	resp, err := l.client.Ask(ctx, http.MethodGet, "/containerLogs/"+l.pod+"/"+container, l.query)
	if err == nil {
		defer resp.Body.Close()
		err = l.copy(bufio.NewReaderSize(resp.Body, 64<<10), prefix)
	}
	switch {
	case ctx.Err() != nil:
		return nil
	case err == nil && resp.Trailer.Get("Error") != "":
		return errors.New(resp.Trailer.Get("Error"))
	}
	return err
}

// copy prints what is read. With a prefix it ends each line, and a line that is longer than the reader's buffer becomes several.
func (l *printer) copy(from *bufio.Reader, prefix string) error {
	for {
		line, err := from.ReadSlice('\n')
		if len(line) > 0 {
			text := prefix + string(line)
			if prefix != "" && line[len(line)-1] != '\n' {
				text += "\n"
			}
			if l.Terminal {
				text = api.Printable(text)
			}
			l.mu.Lock()
			_, writeErr := io.WriteString(l.Out, text)
			l.mu.Unlock()
			if writeErr != nil {
				return writeErr
			}
		}
		switch {
		case err == io.EOF:
			return nil
		case err != nil && err != bufio.ErrBufferFull:
			return errCut
		}
	}
}

// apps returns the containers of a pod in the order of its manifest, without the network container.
func apps(pod *api.PodStatus) (names []string) {
	for _, c := range pod.Containers {
		names = append(names, c.Name)
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == api.NetworkContainerName })
}
