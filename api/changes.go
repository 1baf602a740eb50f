package api

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
)

// Changes returns what differs between two manifests of a pod, in words such as
// "web: env COLOUR changed" and "volume data added": the names of fields and items, never a
// value, as those may be secret.
func Changes(old, new *ContainerManifest) []string { return changes("", fields(old), fields(new)) }

// itemsOf has, for each list whose items have names, what an item is called.
var itemsOf = map[string]string{
	"containers": "container", "initContainers": "init container", "volumes": "volume", "env": "env", "volumeMounts": "mount",
}

// changes compares two JSON objects, and their containers field by field.
func changes(prefix string, old, new map[string]any) (texts []string) {
	for _, key := range unionOf(old, new) {
		a, b := old[key], new[key]
		if itemsOf[key] == "" {
			texts = append(texts, change(prefix+key, a, b)...)
			continue
		}
		before, after := byName(a), byName(b)
		for _, name := range unionOf(before, after) {
			a, b := before[name], after[name]
			if kind := itemsOf[key]; a == nil || b == nil || prefix != "" || kind == "volume" {
				texts = append(texts, change(prefix+kind+" "+name, a, b)...)
			} else {
				texts = append(texts, changes(name+": ", a.(map[string]any), b.(map[string]any))...)
			}
		}
	}
	return texts
}

// change returns what became of one thing, or nothing if it is the same.
func change(what string, old, new any) []string {
	switch {
	case reflect.DeepEqual(old, new):
		return nil
	case old == nil:
		return []string{what + " added"}
	case new == nil:
		return []string{what + " removed"}
	}
	return []string{what + " changed"}
}

// fields returns a manifest as a JSON object.
func fields(m *ContainerManifest) (object map[string]any) {
	text, err := json.Marshal(m)
	if err == nil {
		err = json.Unmarshal(text, &object)
	}
	if err != nil {
		panic(err) // a manifest is always JSON
	}
	return object
}

// byName returns the items of a JSON list by their names.
func byName(list any) map[string]any {
	items, _ := list.([]any) // nil: there is none
	byName := map[string]any{}
	for _, item := range items {
		byName[item.(map[string]any)["name"].(string)] = item
	}
	return byName
}

// unionOf returns the keys of both maps, sorted.
func unionOf(a, b map[string]any) []string {
	keys := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(keys)
	return slices.Compact(keys)
}
