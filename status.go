package main

import (
	"context"
	"fmt"

	"kubelet14/kubelet/server"
	"kubelet14/volume"
)

// printStatus prints what the kubelet that runs with the same flags reports of its sources and pods. It returns an error
// when a pod is not up, or when a source was not read and may have more pods.
func printStatus(ctx context.Context, f *options) error {
	rootDir, err := volume.AbsRootDir(f.rootDir)
	if err != nil {
		return err
	}
	client, err := server.NewClient(f.address, f.port, f.tlsCertFile, f.tokenPath(rootDir))
	if err != nil {
		return err
	}
	table, err := client.Status(ctx)
	fmt.Print(table)
	return err
}

// notUp says that so many of all pods are not up, below the table that has the reasons.
func notUp(down, all int) error {
	return fmt.Errorf("%d of %d pods are not up, for the reasons in the table", down, all)
}
