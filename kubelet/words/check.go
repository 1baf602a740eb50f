package words

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"time"

	"kubelet14/api"
	"kubelet14/config"
	"kubelet14/kubelet/options"
	"kubelet14/kubelet/plan"
)

func check(*flag.FlagSet) func(context.Context, *call) error {
	return func(_ context.Context, c *call) error {
		f, err := options.Parse(c.Version, append(c.given, "-status")) // which needs nothing of the host
		if err != nil {
			return err
		}
		parser := c.Parser(f)
		parser.Warn = func(warning string) { fmt.Fprintln(c.Err, "warning: "+api.Printable(warning)) }
		files, found, err := config.Check(parser, c.args, c.In)
		if err != nil {
			return errors.New(api.WithExcerpts(err))
		}
		for _, why := range waits(found) {
			parser.Warn(why)
		}
		_, err = fmt.Fprintf(c.Out, "%s in %s: all are taken\n", api.Count(len(found.Pods), "pod"), api.Count(files, "file"))
		return err
	}
}

// waits returns why some of the pods would not start on one host that has nothing else.
func waits(found api.PodUpdate) (why []string) {
	type object struct{ kind, namespace, name string }
	objects := map[object]bool{}
	for _, o := range found.Configs {
		objects[object{o.Kind, o.Namespace, o.Name}] = true
	}
	pods := map[string]*plan.Pod{}
	for _, pod := range found.Pods {
		pods[pod.FullName()] = plan.NewPod(pod, "", time.Time{})
		for _, ref := range pod.Manifest.ConfigRefs() {
			if o := (object{ref.Kind, pod.Namespace, ref.Name}); !ref.Optional && !objects[o] {
				objects[o] = true // said once
				why = append(why, fmt.Sprintf("pod %s: there is no %s %q in these files; until a source has it, a container waits", pod.String(), ref.Kind, ref.Name))
			}
		}
	}
	no := func(*plan.Pod) bool { return false }
	waiting := plan.Admit(pods, no, no, nil, nil)
	for _, name := range slices.Sorted(maps.Keys(waiting)) {
		why = append(why, fmt.Sprintf("pod %s waits: %s", pods[name], waiting[name].Message))
	}
	return why
}
