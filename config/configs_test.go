package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kubelet14/api"
	"kubelet14/api/unittest"
)

func configMap(name, value string) string {
	return fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: %s}, data: {key: %s}}", name, value)
}

// expectConfigs settles and checks how many objects there are, and words of the error.
func (f *fileTest) expectConfigs(when string, want int, words ...string) {
	f.t.Helper()
	f.settle()
	if len(f.last.Configs) != want || (f.last.Err == nil) != (len(words) == 0) {
		f.t.Errorf("%s: %d objects, and the error %v; want %d and %q", when, len(f.last.Configs), f.last.Err, want, words)
	}
	if f.last.Err != nil {
		unittest.Says(f.t, f.last.Err, words...)
	}
}

// A source has at most 1,000 objects of 64 MiB. A file with more is an error, and counts once others are gone; an object has at
// most 1 MiB. An error keeps what was there, and a name that two files have means the first.
func TestLimitsOfConfigObjects(t *testing.T) {
	f := newFileTest(t)
	big := strings.Repeat("x", 1<<20-100)
	for i := range 64 {
		f.write(fmt.Sprintf("%02d.yaml", i), configMap(fmt.Sprint("big", i), big))
	}
	f.expectConfigs("64 objects of almost 1 MiB", 64)
	f.write("64.yaml", manifest("web", "1"), configMap("big64", big))
	f.expectConfigs("and one more", 64, "64.yaml", "are more than 64 MiB: remove some")
	f.remove("00.yaml")
	f.expectConfigs("another is gone", 64)
	f.write("01.yaml", configMap("big1", big+strings.Repeat("x", 200)))
	f.expectConfigs("one is too big", 64, "01.yaml", "1048576 (1 MiB) is the limit")
	for i := range 64 {
		os.Remove(filepath.Join(f.dir, fmt.Sprintf("%02d.yaml", i)))
	}
	f.expectConfigs("the last one", 1)
	var many []string
	for i := range 1000 {
		many = append(many, configMap(fmt.Sprint("small", i), "x"))
	}
	f.write("many.yaml", many...)
	f.expectConfigs("1001 objects", 1, "many.yaml", "more than 1000 ConfigMaps and Secrets in one source")
	f.write("many.yaml", many[1:]...)
	f.expectConfigs("1000 objects", 1000)
	f.write("small.yaml", configMap("small1", "y"))
	f.remove("64.yaml")
	f.expectConfigs("a name twice", 999, `ConfigMap "small1" is in`, "keep one of them")
}

// Objects of all sources go with each update, and a change of them alone is an update.
func TestConfigObjectsAreSent(t *testing.T) {
	f := newFileTest(t)
	f.write("a.yaml", configMap("a", "x"))
	f.expectConfigs("one", 1)
	f.write("b.yaml", configMap("a-b", "x"))
	f.expectConfigs("two", 2)
	if f.settle() {
		t.Error("an update was sent although nothing has changed")
	}
	f.write("b.yaml", configMap("a-b", "y"))
	f.expectConfigs("two", 2)
	if o := f.last.Configs[1]; o.Namespace != "default" || o.Source != "file" || string(o.Data["key"]) != "y" || !strings.HasSuffix(o.Origin, "b.yaml") || o.Kind != api.KindConfigMap {
		t.Errorf("the object is %v of source %s", o, o.Source)
	}
}

// The errors of files with a Secret have no part of it.
func TestErrorsShowNoSecret(t *testing.T) {
	texts := testFiles(t, "invalid-secret*.err")
	for path, text := range texts {
		if strings.Contains(text, "canary") {
			t.Errorf("%s shows a value", path)
		}
	}
	if len(texts) < 2 {
		t.Errorf("%d files", len(texts))
	}
}
