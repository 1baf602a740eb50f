package config

import (
	"cmp"
	"fmt"

	"kubelet14/api"
	"kubelet14/api/validation"
)

// Parser makes objects of text, in the same way for every source.
type Parser struct {
	Hostname string // is part of the UIDs of pods without a uuid
	Scheme   *api.Scheme
	Rules    validation.Rules
	Watcher  Watcher              // of the source; may be nil
	Warn     func(warning string) // of what means nothing here or may not be meant; nil: the log
}

// objects decodes and validates a text and gives each object its identity, which depends only on its name and the place.
// defaultName names the manifest with a number, from 1, that has no id. The error lists what is wrong with any object; then
// there are none.
func (p Parser) objects(source, place string, text []byte, defaultName func(number int) string) ([]object, error) {
	label := label(place)
	docs, err := p.Scheme.Decode(label, text, p.Rules.Validate)
	if err != nil {
		return nil, err
	}
	objects := make([]object, 0, len(docs))
	origins := map[objectID]string{}
	for i, doc := range docs {
		origin := label
		if doc.Where != "" {
			origin = fmt.Sprintf("%s (%s)", label, doc.Where)
		}
		var o object
		switch {
		case doc.LeftOut != "":
			objects = append(objects, object{objectID{kind: "left out", name: fmt.Sprint(place, i)}, origin + ": left out " + doc.LeftOut})
			continue
		case doc.Service != nil:
			service := *doc.Service
			service.Namespace, service.Origin = cmp.Or(service.Namespace, api.NamespaceDefault), origin
			o = object{serviceID(&service), service}
		case doc.Config != nil:
			doc.Config.Namespace, doc.Config.Origin = cmp.Or(doc.Config.Namespace, api.NamespaceDefault), origin
			doc.Config.Source = source
			o = object{configID(doc.Config), doc.Config}
		default:
			pod := p.pod(source, doc.Manifest, defaultName(i+1))
			if pod.Origin = origin; !validation.IsDNSSubdomain(pod.Name) {
				return nil, fmt.Errorf("%s: the manifest has no id, and %q cannot be a pod's name: give it an id", origin, pod.Name)
			}
			o = object{podID(&pod), pod}
		}
		if first := origins[o.objectID]; first != "" {
			return nil, fmt.Errorf("%s %q is in %s and %s: keep one of them", o.kind, o.name, first, origin)
		}
		origins[o.objectID] = origin
		objects = append(objects, o)
	}
	return objects, nil
}

// pod gives a manifest its identity.
func (p Parser) pod(source string, manifest *api.ContainerManifest, defaultName string) api.Pod {
	pod := api.Pod{
		Name:      cmp.Or(manifest.ID, defaultName),
		Namespace: cmp.Or(manifest.Namespace, api.NamespaceDefault),
		UID:       manifest.UUID,
		Source:    source,
		Manifest:  *manifest,
	}
	if pod.UID == "" {
		pod.UID = api.NewUID(p.Hostname, source, pod.Namespace, pod.Name)
	}
	return pod
}
