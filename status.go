package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"kubelet14/api"
	"kubelet14/kubelet"
	"kubelet14/kubelet/server"
	"kubelet14/volume"
)

// printStatus asks the kubelet that runs with the same flags, and prints what it says
// of its pods. It is an error when one that is wanted does not run.
func printStatus(ctx context.Context, f *options) error {
	rootDir, err := volume.AbsRootDir(f.rootDir)
	if err != nil {
		return err
	}
	client, err := server.NewClient(f.address, f.port, f.tlsCertFile, f.tokenPath(rootDir))
	if err != nil {
		return err
	}
	defer client.Close()
	sources, err := client.Sources(ctx)
	if err != nil {
		return err
	}
	pods, err := client.Pods(ctx)
	if err != nil {
		return err
	}
	var failing []string
	for _, source := range sources {
		fmt.Println(source)
		if !source.FailingSince.IsZero() {
			failing = append(failing, source.Source)
		}
	}
	if err := kubelet.WriteStatuses(os.Stdout, pods, time.Now()); err != nil {
		return err
	}
	down := 0
	for i := range pods {
		if !isUp(&pods[i]) {
			down++
		}
	}
	if down > 0 {
		err = notUp(down, len(pods))
	}
	if len(failing) > 0 {
		err = errors.Join(err, fmt.Errorf("not all is known that is wanted: cannot read source %s", strings.Join(failing, ", ")))
	}
	return err
}

// notUp says that so many of all pods are not up, below the table that has the reasons.
func notUp(down, all int) error {
	return fmt.Errorf("%d of %d pods are not up, for the reasons in the table", down, all)
}

// isUp says that of a pod all runs that is to run, or has ended well. One that is being
// removed is not wanted.
func isUp(p *api.PodStatus) bool {
	if p.Reason == api.ReasonRemoved || p.Phase == api.PodSucceeded {
		return true
	}
	for _, c := range p.Containers {
		if c.State.Running == nil && (c.State.Terminated == nil || c.State.Terminated.Reason != api.ReasonCompleted) {
			return false
		}
	}
	return p.Phase == api.PodRunning && p.Reason == ""
}
