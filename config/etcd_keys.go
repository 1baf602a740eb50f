package config

import (
	"fmt"
	"strconv"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"kubelet14/api"
)

// etcdKeys is what is known of the keys of one host:
//
//	/registry/hosts/HOST/kubelet        a ContainerManifestList, as in 2014
//	/registry/hosts/HOST/kubelet/POD    one manifest
//
// In 2014 there was the first one only, and to delete it removed nothing.
type etcdKeys struct {
	parser Parser
	root   string // the first key
	end    string // the range [root, end) has all keys, and some that are no kubelet's
	keys   map[string]*etcdKey
}

// etcdKey is what is known of one key. Its place is the key itself.
type etcdKey struct {
	part
	revision int64 // of the value that was read
}

func newEtcdKeys(parser Parser) *etcdKeys {
	root := "/registry/hosts/" + parser.Hostname + "/kubelet"
	return &etcdKeys{
		parser: parser,
		root:   root,
		end:    clientv3.GetPrefixRangeEnd(root + "/"),
		keys:   map[string]*etcdKey{},
	}
}

// set takes a list for all that there is.
func (k *etcdKeys) set(list []*mvccpb.KeyValue) {
	listed := map[string]bool{}
	for _, kv := range list {
		listed[string(kv.Key)] = true
		k.put(kv)
	}
	for key := range k.keys {
		if !listed[key] {
			delete(k.keys, key)
		}
	}
}

// change takes one change of one key. A lease that expires deletes its keys.
func (k *etcdKeys) change(event *clientv3.Event) {
	if event.Type == clientv3.EventTypeDelete {
		delete(k.keys, string(event.Kv.Key))
		return
	}
	k.put(event.Kv)
}

// put reads a value that has not been read before.
func (k *etcdKeys) put(kv *mvccpb.KeyValue) {
	key := string(kv.Key)
	if key != k.root && !strings.HasPrefix(key, k.root+"/") {
		return
	}
	known := k.keys[key]
	if known == nil {
		known = &etcdKey{part: part{place: key}}
		k.keys[key] = known
	}
	if known.revision != kv.ModRevision {
		known.revision = kv.ModRevision
		known.parsed, known.readErr = k.podsOf(key, kv.Value)
	}
}

// podsOf reads the value of a key. A pod without an id has the last part of its
// key for a name, or its number in the list, as in 2014.
func (k *etcdKeys) podsOf(key string, value []byte) ([]api.Pod, error) {
	parse, nameless := k.parser.manifestsOrList, strconv.Itoa
	if key != k.root {
		parse = k.parser.manifests
		nameless = func(int) string { return key[strings.LastIndex(key, "/")+1:] }
	}
	docs, err := parse(key, value)
	if err != nil {
		return nil, err
	}
	if key != k.root && len(docs) > 1 {
		return nil, fmt.Errorf("%s: %d manifests: put each into a key of its own", key, len(docs))
	}
	return k.parser.pods("etcd", key, docs, nameless)
}
