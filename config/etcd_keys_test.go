package config

import (
	"strings"
	"testing"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"kubelet14/api"
)

const testRoot = "/registry/hosts/host/kubelet"

// keysTest is what is known of the keys of a host. The test names them by what
// follows testRoot.
type keysTest struct {
	*etcdKeys
	t        *testing.T
	revision int64
	parses   int
}

func newKeysTest(t *testing.T) *keysTest {
	k := &keysTest{t: t}
	parser := testParser()
	parser.Scheme = countParses(&k.parses)
	k.etcdKeys = newEtcdKeys(parser)
	return k
}

// kv is a value that was just put.
func (k *keysTest) kv(key, value string) *mvccpb.KeyValue {
	k.revision++
	return &mvccpb.KeyValue{Key: []byte(testRoot + key), Value: []byte(value), ModRevision: k.revision}
}

func (k *keysTest) watched(key, value string) {
	k.change(&clientv3.Event{Type: clientv3.EventTypePut, Kv: k.kv(key, value)})
}

func (k *keysTest) watchedDelete(key string) {
	k.change(&clientv3.Event{Type: clientv3.EventTypeDelete, Kv: k.kv(key, "")})
}

// settled is what the keys give once their claims are settled.
func (k *keysTest) settled() api.PodUpdate {
	parts := inOrder(k.keys)
	settleClaims(parts)
	return *new(reporter).report(noon, parts, nil)
}

func (k *keysTest) expect(pods string, words ...string) {
	k.t.Helper()
	expectSet(k.t, k.settled(), pods, words...)
}

func TestEtcdNamesAndPlaces(t *testing.T) {
	for what, test := range map[string]struct {
		key, value, pods string
		where            []string // in the origin of each pod
	}{
		"a manifest with an id":         {"/key", manifest("web", "1"), "web=1", []string{""}},
		"a manifest without an id":      {"/key", manifest("", "1"), "key=1", []string{""}},
		"a manifest under a longer key": {"/group/key", jsonManifest("", "1"), "key=1", []string{""}},
		"a key that ends in a slash":    {"/", manifest("web", "1"), "web=1", []string{""}},
		"a list":                        {"", listOf("v1beta1", jsonManifest("web", "1"), jsonManifest("", "1")), "web=1 2=1", []string{" (item 1)", " (item 2)"}},
		"a list without an object":      {"", yamlList(manifest("", "1")), "1=1", []string{" (item 1)"}},
		"a manifest for a list":         {"", manifest("", "1"), "1=1", []string{""}},
		"documents for a list":          {"", manifest("", "1") + "\n---\n" + manifest("db", "1"), "1=1 db=1", []string{" (document 1)", " (document 2)"}},
		"a list of no pods":             {"", "[]", "", nil},
	} {
		t.Run(what, func(t *testing.T) {
			k := newKeysTest(t)
			k.watched(test.key, test.value)
			k.expect(test.pods)
			for i, pod := range k.settled().Pods {
				if want := testRoot + test.key + test.where[i]; pod.Origin != want {
					t.Errorf("origin %q, want %q", pod.Origin, want)
				}
				if pod.Namespace != "default" || pod.Source != "etcd" || pod.UID != api.NewUID("host", "etcd", "default", pod.Name) {
					t.Errorf("got %+v", pod)
				}
			}
		})
	}
}

func TestEtcdUUIDIsTheUID(t *testing.T) {
	k := newKeysTest(t)
	k.watched("/web", withUUID("my-uuid", manifest("", "1")))
	k.expect("web=1")
	if pod := k.settled().Pods[0]; pod.UID != "my-uuid" {
		t.Errorf("got %+v", pod)
	}
}

func TestEtcdNeighboursKeysAreIgnored(t *testing.T) {
	k := newKeysTest(t)
	var list []*mvccpb.KeyValue
	for _, key := range []string{"-2", "-2/web", "2/web", ".d", "0"} {
		list = append(list, k.kv(key, "bad: ["))
	}
	k.set(append(list, k.kv("/web", manifest("web", "1"))))
	k.expect("web=1")
	for _, kv := range list {
		k.change(&clientv3.Event{Type: clientv3.EventTypePut, Kv: kv})
		k.change(&clientv3.Event{Type: clientv3.EventTypeDelete, Kv: kv})
	}
	k.expect("web=1")
}

func TestEtcdListReplacesAll(t *testing.T) {
	k := newKeysTest(t)
	k.set([]*mvccpb.KeyValue{k.kv("", "["+jsonManifest("listed", "1")+"]"), k.kv("/db", manifest("db", "1")), k.kv("/bad", "bad: [")})
	k.expect("listed=1 db=1", testRoot+"/bad:1")
	k.set([]*mvccpb.KeyValue{k.kv("/web", manifest("web", "1")), k.kv("/db", manifest("db", "2"))})
	k.expect("db=2 web=1")
	k.set(nil)
	k.expect("")
}

// What is wrong with a value. Whatever it is, the key's last good pods and those of
// other keys stay, and the error says which key it is.
func TestEtcdBadValueKeepsTheLastGoodPods(t *testing.T) {
	for what, test := range map[string]struct{ key, value, word string }{
		"empty":                         {"/b", "", "empty"},
		"bytes":                         {"/b", "\x00\x01", "0x00"},
		"text":                          {"/b", "hello", "a string"},
		"the first line":                {"/b", "version: v1beta1\n", "containers: required"},
		"an unknown field":              {"/b", manifest("web", "2") + "\nimgae: x", "imgae"},
		"not valid":                     {"/b", strings.Replace(manifest("web", "2"), "main", "NOT A NAME", 1), "NOT A NAME"},
		"more than fits":                {"/b", manifest("web", "2") + "\n#" + strings.Repeat("x", api.MaxManifestBytes), "the limit is 1048576"},
		"two manifests":                 {"/b", manifest("web", "2") + "\n---\n" + manifest("db", "2"), "2 manifests: put each into a key of its own"},
		"a list in a key for one":       {"/b", "[" + jsonManifest("web", "2") + "]", "a list"},
		"an empty list there":           {"/b", "[]", "a list"},
		"a pod of another key":          {"/b", manifest("other", "2"), testRoot + "/a"},
		"a uuid of another key":         {"/b", withUUID("other-uuid", manifest("web", "2")), testRoot + "/a"},
		"an empty list key":             {"", "", "empty"},
		"an object without a list":      {"", "{}", "version: required"},
		"null for a list":               {"", "null", "nothing"},
		"a list with one bad item":      {"", "[" + jsonManifest("listed", "2") + `,{"version":"v9"}]`, "v9"},
		"a list's first half":           {"", "- " + strings.ReplaceAll(manifest("listed", "2"), "\n", "\n  ") + "\n- version: v1beta1\n", "[1].containers: required"},
		"a list with one pod twice":     {"", "[" + jsonManifest("listed", "2") + "," + jsonManifest("listed", "2") + "]", `pod "listed"`},
		"a list with another key's":     {"", "[" + jsonManifest("listed", "2") + "," + jsonManifest("web", "2") + "]", testRoot + "/b"},
		"no id, and no name in the key": {"/", manifest("", "2"), "give it an id"},
	} {
		t.Run(what, func(t *testing.T) {
			k := newKeysTest(t)
			k.watched("", "["+jsonManifest("listed", "1")+"]")
			k.watched("/", manifest("slash", "1"))
			k.watched("/a", withUUID("other-uuid", manifest("other", "1")))
			k.watched("/b", manifest("web", "1"))
			k.expect("listed=1 slash=1 other=1 web=1")
			k.watched(test.key, test.value)
			k.expect("listed=1 slash=1 other=1 web=1", testRoot+test.key, test.word)
			k.watched(test.key, manifest("mended", "2"))
			if got := show(k.settled().Pods); !strings.Contains(got, "mended=2") {
				t.Errorf("mended it gives %q", got)
			}
		})
	}
}

func TestEtcdKeyThatNeedsAnID(t *testing.T) {
	for _, key := range []string{"/", "/Web", "/web/", "/web_1"} {
		k := newKeysTest(t)
		k.watched(key, manifest("", "1"))
		k.expect("", testRoot+key, "give it an id")
		k.watched(key, manifest("web", "1"))
		k.expect("web=1")
	}
}

// A value is read once, good or bad, whether a list or a watch tells of it.
func TestEtcdUnchangedValueIsNotReadAgain(t *testing.T) {
	k := newKeysTest(t)
	web, bad := k.kv("/web", manifest("web", "1")), k.kv("/bad", strings.Replace(manifest("bad", "1"), "main", "NOT A NAME", 1))
	for range 3 {
		k.set([]*mvccpb.KeyValue{web, bad})
		k.change(&clientv3.Event{Type: clientv3.EventTypePut, Kv: web})
		k.change(&clientv3.Event{Type: clientv3.EventTypePut, Kv: bad})
		k.expect("web=1", "NOT A NAME")
	}
	if k.parses != 2 {
		t.Errorf("parsed %d times", k.parses)
	}
	k.watched("/web", manifest("web", "1"))
	k.expect("web=1", "NOT A NAME")
	if k.parses != 3 {
		t.Errorf("after another put: parsed %d times", k.parses)
	}
}

func TestEtcdDeletedKeyTakesItsPodsAlong(t *testing.T) {
	k := newKeysTest(t)
	k.watched("", "["+jsonManifest("listed", "1")+"]")
	k.watched("/web", manifest("web", "1"))
	k.watched("/bad", "bad: [")
	k.expect("listed=1 web=1", "/bad")
	k.watchedDelete("/bad")
	k.expect("listed=1 web=1")
	k.watchedDelete("") // in 2014 this removed nothing
	k.expect("web=1")
	k.watchedDelete("/web")
	k.watchedDelete("/never-seen")
	k.expect("")
	k.watched("/web", "bad: [")
	k.expect("", "/web")
	k.watched("/web", manifest("web", "2"))
	k.expect("web=2")
}

func TestEtcdPodInTwoKeys(t *testing.T) {
	k := newKeysTest(t)
	k.watched("/b", manifest("web", "1"))
	k.expect("web=1")
	k.watched("/a", manifest("web", "2"))
	k.watched("", "["+jsonManifest("web", "3")+"]")
	k.expect("web=1", testRoot+"/a is also in "+testRoot+"/b", testRoot+" (item 1) is also in")
	k.watchedDelete("/b")
	k.expect("", "neither counts")
	k.watchedDelete("")
	k.expect("web=2")
}
