package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"kubelet14/api"
	"kubelet14/api/v1"
	"kubelet14/config"
	"kubelet14/kubelet/options"
)

// convert prints the pods of -config as v1 Pods, each below comments about what differs in a cluster, and the ConfigMaps that they
// need. It prints all of them or none, and no Secret.
func convert(f *options.Options) error {
	sources, _, err := openSources(f)
	if err != nil {
		return err
	}
	pods, configs, err := sources[0].(*config.SourceFile).ReadOnce() // the flags allow no other source
	if err != nil {
		return errors.New("nothing is converted: " + api.WithExcerpts(err))
	}
	scheme := v1.NewScheme()
	var out strings.Builder
	var errs []error
	for i := range pods {
		manifest, notes, problems := v1.Convert(&pods[i], f.Kubelet.SyncFrequency)
		for _, p := range problems {
			errs = append(errs, fmt.Errorf("%s: %v", pods[i].Origin, p))
		}
		text, err := scheme.EncodeYAML(api.VersionV1, &manifest)
		if err != nil {
			return fmt.Errorf("%s: %w", pods[i].Origin, err)
		}
		out.WriteString("---\n# From " + pods[i].Origin + "\n")
		for _, note := range notes {
			out.WriteString("# - " + note + "\n")
		}
		out.Write(text)
	}
	for _, o := range configs {
		needs := func(pod api.Pod) bool {
			return pod.Namespace == o.Namespace && slices.ContainsFunc(pod.Manifest.ConfigRefs(), func(ref api.ConfigRef) bool {
				return ref.Kind == o.Kind && ref.Name == o.Name
			})
		}
		if o.Kind == api.KindSecret || !slices.ContainsFunc(pods, needs) {
			continue
		}
		text, err := scheme.EncodeYAML(api.VersionV1, o)
		if err != nil {
			return fmt.Errorf("%v: %w", o, err)
		}
		out.WriteString("---\n# From " + o.Origin + "\n")
		out.Write(text)
	}
	if len(errs) > 0 {
		return fmt.Errorf("nothing is converted: %w", errors.Join(errs...))
	}
	_, err = os.Stdout.WriteString(out.String())
	return err
}
