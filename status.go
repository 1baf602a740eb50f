package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"kubelet14/api"
	"kubelet14/kubelet"
	"kubelet14/kubelet/server"
	"kubelet14/volume"
)

// printStatus asks the kubelet that runs with the same flags, and prints what it says
// of its pods. It is an error when one that is wanted does not run, or may be wanted and
// is not known.
func printStatus(ctx context.Context, f *options) error {
	sources, pods, err := askKubelet(ctx, f)
	if err != nil {
		return errors.New(printable(err.Error()))
	}
	var report strings.Builder
	var unknown []string
	for _, source := range sources {
		fmt.Fprintln(&report, source)
		switch {
		case !source.FailingSince.IsZero():
			unknown = append(unknown, "cannot read source "+source.Source)
		case source.LastSuccess.IsZero():
			unknown = append(unknown, "source "+source.Source+" has not been read yet")
		}
	}
	if err := kubelet.WriteStatuses(&report, pods, time.Now()); err != nil {
		return err
	}
	fmt.Print(printable(report.String()))
	down := 0
	for i := range pods {
		if !isUp(&pods[i]) {
			down++
		}
	}
	if down > 0 {
		err = notUp(down, len(pods))
	}
	if len(unknown) > 0 {
		err = errors.Join(err, fmt.Errorf("not all is known that is wanted: %s", printable(strings.Join(unknown, ", "))))
	}
	return err
}

// askKubelet asks for the sources first: one that is read meanwhile still counts as not
// read, and not as one without pods.
func askKubelet(ctx context.Context, f *options) (sources []api.SourceStatus, pods []api.PodStatus, err error) {
	rootDir, err := volume.AbsRootDir(f.rootDir)
	if err != nil {
		return nil, nil, err
	}
	client, err := server.NewClient(f.address, f.port, f.tlsCertFile, f.tokenPath(rootDir))
	if err != nil {
		return nil, nil, err
	}
	defer client.Close()
	if sources, err = client.Sources(ctx); err != nil {
		return nil, nil, err
	}
	pods, err = client.Pods(ctx)
	return sources, pods, err
}

// printable makes a text harmless for a terminal, and keeps its lines: what listens at
// the port while no kubelet does may be any user's.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
}

// notUp says that so many of all pods are not up, below the table that has the reasons.
func notUp(down, all int) error {
	return fmt.Errorf("%d of %d pods are not up, for the reasons in the table", down, all)
}

// isUp says that of a pod all runs that is to run, as it is to run, or has ended well. One
// that is being removed is not wanted.
func isUp(p *api.PodStatus) bool {
	if p.Reason == api.ReasonRemoved || p.Phase == api.PodSucceeded {
		return true
	}
	for _, c := range p.Containers {
		runs := c.State.Running != nil && c.State.Running.Message == ""
		if !runs && (c.State.Terminated == nil || c.State.Terminated.Reason != api.ReasonCompleted) {
			return false
		}
	}
	return p.Phase == api.PodRunning && p.Reason == ""
}
