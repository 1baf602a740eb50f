// A kubelet that grows by six labs.
//
//	go run . DIRECTORY PREFIX
//
// Each turn of the loop reads the desired state, observes the actual state and decides.
// Workers act, one for each pod. Nothing is kept from one turn to the next.
package main

import (
	"context"
	"log"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: mykubelet DIRECTORY PREFIX")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	w := newWorkers()
	for ctx.Err() == nil {
		if err := syncOnce(ctx, os.Args[1], os.Args[2], w); err != nil && ctx.Err() == nil {
			log.Print(err) // the next turn tries again
		}
		select {
		case <-ctx.Done():
		case <-w.wakeup:
		case <-time.After(time.Second):
		}
	}
	w.all.Wait()
	log.Print("stopped; the containers keep running")
}

// syncOnce is one turn of the loop.
func syncOnce(ctx context.Context, dir, prefix string, w *workers) error {
	busy := w.busy() // before the list
	desired, errRead := readAll(dir)
	observed, err := list(ctx, prefix)
	if err != nil {
		return err
	}
	for pod := range union(desired, observed) {
		if busy[pod] {
			continue // the end of its work wakes the loop
		}
		if _, wanted := desired[pod]; !wanted && errRead != nil {
			continue // it may be in a file that could not be read
		}
		if plan := decide(time.Now(), prefix+"_"+pod, desired[pod], observed[pod]); len(plan) > 0 {
			w.run(ctx, pod, plan)
		}
	}
	return errRead
}

// union returns the pods that are desired or observed.
func union[D, O any](desired map[string]D, observed map[string]O) map[string]bool {
	pods := map[string]bool{}
	for pod := range desired {
		pods[pod] = true
	}
	for pod := range observed {
		pods[pod] = true
	}
	return pods
}

// carryOut runs docker commands until one of them fails.
func carryOut(ctx context.Context, plan [][]string) error {
	for _, args := range plan {
		log.Printf("docker %s", strings.Join(args, " "))
		if _, err := docker(ctx, args...); err != nil {
			return err
		}
	}
	return nil
}
