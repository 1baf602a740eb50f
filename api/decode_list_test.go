package api_test

import (
	"fmt"
	"strings"
	"testing"

	"kubelet14/api"
)

const (
	listObject = "kind: ContainerManifestList\napiVersion: v1beta1\n"
	twoItems   = "- version: v1beta1\n  id: a\n  containers: []\n- version: v1beta2\n  id: b\n  containers: []\n"
)

// podList has a list, a manifest of 2014 and a Pod.
const podList = "apiVersion: v1\nkind: PodList\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {}}\n" +
	"- {apiVersion: v1, kind: Pod, metadata: {name: b}, spec: {}}\n---\nversion: v1beta1\nid: c\ncontainers: []\n" +
	"---\napiVersion: v1\nkind: Pod\nmetadata: {name: d}\nspec: {}\n"

func TestAListIsReadInEveryForm(t *testing.T) {
	ab := []string{`"item 1" a v1beta1`, `"item 2" b v1beta2`}
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"one manifest":      {"version: v1beta1\nid: a\ncontainers: []\n", []string{`"" a v1beta1`}},
		"documents":         {"version: v1beta1\nid: a\ncontainers: []\n---\n---\nversion: v1beta2\nid: b\ncontainers: []\n", []string{`"document 1" a v1beta1`, `"document 2" b v1beta2`}},
		"list":              {twoItems, ab},
		"list of one":       {"- {version: v1beta1, id: a, containers: []}\n", ab[:1]},
		"JSON list":         {`[{"version": "v1beta1", "id": "a", "containers": []}, {"version": "v1beta2", "id": "b", "containers": []}]`, ab},
		"empty list":        {"[]", nil},
		"anchored list":     {"&all\n" + twoItems, ab},
		"anchor of an item": {"- &a {version: v1beta1, id: a, containers: []}\n- *a\n", []string{`"item 1" a v1beta1`, `"item 2" a v1beta1`}},
		"shared anchors":    {"- {version: v1beta1, id: &id a, containers: []}\n- {version: v1beta2, id: *id, containers: []}\n", []string{`"item 1" a v1beta1`, `"item 2" a v1beta2`}},
		"object":            {listObject + "items:\n" + twoItems, ab},
		"object, any case":  {"items:\n" + twoItems + "apiVersion: V1Beta2\nkind: ContainerManifestList\n", ab},
		"JSON object":       {`{"kind": "ContainerManifestList", "apiVersion": "v1beta2", "items": [{"version": "v1beta1", "id": "a", "containers": []}]}`, ab[:1]},
		"empty object":      {listObject + "items: []\n", nil},
		"as 2014 wrote it":  {`{"kind":"ContainerManifestList","creationTimestamp":null,"selfLink":"/a","uid":"b","resourceVersion":1,"id":"c","apiVersion":"v1beta1"}`, nil},
		"list, manifest":    {"# all\n---\n" + twoItems + "---\nversion: v1beta1\nid: c\ncontainers: []\n", []string{`"document 1, item 1" a v1beta1`, `"document 1, item 2" b v1beta2`, `"document 2" c v1beta1`}},
		"list of pods":      {podList, []string{`"document 1, item 1" a v1`, `"document 1, item 2" b v1`, `"document 2" c v1beta1`, `"document 3" d v1`}},
		"list of no pods":   {"apiVersion: v1\nkind: List\nmetadata: {resourceVersion: \"\"}\nitems: []\n", nil},
	} {
		docs, err := decode(tt.text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var got []string
		for _, d := range docs {
			got = append(got, fmt.Sprintf("%q %s %s", d.Where, d.Manifest.ID, d.Manifest.Version))
		}
		same(t, name, tt.want, got)
	}
}

// Each row has one error, or some that are joined by newlines.
func TestListsThatAreRefused(t *testing.T) {
	const (
		begins = `a manifest begins with fields such as "apiVersion: v1" or "version: v1beta1", but this is `
		twice  = `this is a list in a list: put its items into the outer one`
	)
	for name, tt := range map[string]struct{ text, want string }{
		"nothing":               {"", "f: it is empty or has only comments; a manifest needs at least a version, an id and containers"},
		"list of another day":   {"apiVersion: v1beta3\nkind: PodList\nitems: []\n", "f:1:13: apiVersion: unsupported value 'v1beta3': this program reads v1"},
		"no kind":               {"apiVersion: v1beta1\nitems: []\n", "f:1:1: kind: unsupported value '': write \"kind: Pod\""},
		"no items":              {"kind: List\napiVersion: v1\n", `f:1:1: items: required value '': a list without manifests is written "items: []"`},
		"items that are null":   {"kind: PodList\napiVersion: v1\nitems: null\n", `f:3:8: items: required value '': a list without manifests is written "items: []"`},
		"items without value":   {listObject + "items:\n", `f:3:7: items: there is no value: write [] for none`},
		"items that are a map":  {listObject + "items: {}\n", `f:3:8: items: needs a list, each item on a line that begins with "- ", but this is a mapping`},
		"misspelt items":        {listObject + "itms: []\n", `f:3:1: itms: unknown field: did you mean "items"?`},
		"item without value":    {listObject + "items:\n-\n", "f:4:2: items[0]: " + begins + "nothing"},
		"item that is a list":   {"[[]]", "f:1:2: [0]: " + twice},
		"item that is the list": {"&a [*a]", "f:1:1: [0]: " + twice},
		"item with a tag":       {"- !a {version: v1beta1}\n", `f:1:3: [0]: tags are not supported: remove the word that begins with '!'`},
		"conversion":            {listObject + "items:\n- version: v1beta1\n  containers: []\n- version: v1beta2\n  containers: [{env: [{key: A}]}]\n", `f:7:29: items[1].containers[0].env[0].key: v1beta2 calls this field "name"`},
		"list's first half":     {listObject + "items:\n" + twoItems + "- version: v1beta2\n  id: c\n", `f:10:3: items[2].containers: ` + needsContainers},
		"in an item's spec":     {podList + "---\napiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{image: 1}]}}\n", `f:19:80: items[0].spec.containers[0].image: needs a string, but 1 is a number: put quotes around it, "1"`},
		"list in a list":        {"kind: List\napiVersion: v1\nitems:\n- " + strings.ReplaceAll(listObject, "\n", "\n  ") + "\n", "f:4:3: items[0]: " + twice},
	} {
		docs, err := decode(tt.text)
		if err == nil || err.Error() != tt.want || len(docs) > 4 {
			t.Errorf("%s: %d manifests, and\n%v\nwant %s", name, len(docs), err, tt.want)
		}
	}
}

func TestAListOfTheLargestSizeIsRead(t *testing.T) {
	const item = "- {version: v1beta1, id: a, containers: [{name: a, image: b}]}\n"
	const count = api.MaxManifestBytes / len(item)
	docs, err := decode(strings.Repeat(item, count))
	if err != nil || len(docs) != count || docs[count-1].Manifest.Containers[0].Image != "b" {
		t.Errorf("%d of %d manifests, %v", len(docs), count, err)
	}
}
