package config

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unicode"

	"kubelet14/api"
	"kubelet14/api/unittest"
)

// Manifests are not trusted. The cost of a manifest grows no faster than its length, and the messages about it do not
// grow.
func TestHostileManifestsCostLittle(t *testing.T) {
	const pod = "version: v1beta1\nid: a\ncontainers: "
	long := strings.Repeat("a", 20_000)
	for name, text := range map[string]struct{ before, again, after string }{
		"containers without anything": {pod + "[", "{},", "]"},
		"on lines of their own":       {pod + "\n", "- {}\n", ""},
		"containers of one name":      {pod + "[", "{name: a, image: b},", "]"},
		"variables without a name":    {pod + "[{name: a, image: b, env: [", "{},", "]}]"},
		"ports that are taken":        {pod + "[{name: a, image: b, ports: [", "{containerPort: 1, hostPort: 1},", "]}]"},
		"unknown fields":              {pod + "[{", "b: 1,", "}]"},
		"bad documents":               {"", pod + "[{}]\n---\n", ""},
		"bad items":                   {"[", "{version: v1beta1, containers: [{}]},", "]"},
		"one pod again and again":     {"[", "{version: v1beta1, id: a, containers: []},", "]"},
		"lists in lists":              {pod, "[", ""},
		"blocks in blocks":            {pod + "\n", "- ", ""},
		"mappings in mappings":        {pod, "{a: ", ""},
		"a long name":                 {pod + "[{name: ", "a", "}]"},
		"a long field":                {pod + "[{", "a", ": 1}]"},
		"a long name without an end":  {pod + "[{name: \"", "a", ""},
		"aliases of a long name":      {pod + "[{name: a, image: b, env: [{name: &a " + long + "},", "{name: *a},", "]}]"},
		"aliases of a bad name":       {pod + "[{name: a, image: b, env: [{name: &a " + long + "-=},", "{name: *a},", "]}]"},
		"aliases of a long number":    {pod + "[{name: a, image: b, memory: &a " + strings.Repeat("9", 20_000) + "},", "{memory: *a},", "]"},
	} {
		cost := func(size int) (bytes uint64, log, err string) {
			f, logged := newFileTest(t), unittest.Log(t, "0")
			f.write("a.yaml", text.before+strings.Repeat(text.again, size/len(text.again))+text.after)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			f.settle()
			runtime.ReadMemStats(&after)
			return after.TotalAlloc - before.TotalAlloc, logged(), f.Status().LastError
		}
		small, _, _ := cost(50_000)
		big, log, err := cost(200_000)
		if big > 8*small+1<<20 || big > 1<<30 {
			t.Errorf("%s: a text four times as long allocates %d MB instead of %d MB", name, big>>20, small>>20)
		}
		if len(log) > 16_000 || len(err) > 40_000 || log == "" {
			t.Errorf("%s: the log has %d bytes, the error %d", name, len(log), len(err))
		}
	}
}

// Many pods cost little even if they are in two files, or if their file is bad.
func TestManyPodsWithOneProblemCostLittle(t *testing.T) {
	const count = 4000
	var many []string
	for i := range count {
		many = append(many, manifest(fmt.Sprint("p", i), "1"))
	}
	f := newFileTest(t)
	f.write("a.yaml", many...)
	f.settle()
	f.write("b.yaml", many...)
	f.settle()
	if size := len(f.Status().LastError); len(f.last.Pods) != count || size > 40_000 {
		t.Errorf("%d pods are in two files: %d pods, and an error of %d bytes", count, len(f.last.Pods), size)
	}
	f.remove("b.yaml")
	f.settle()
	f.write("a.yaml", "version: v1beta1\nid: a\ncontainers: ["+strings.Repeat("{}, ", 50)+"]")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f.settle()
	runtime.ReadMemStats(&after)
	if allocated := (after.TotalAlloc - before.TotalAlloc) >> 20; len(f.Status().Stale) != count || allocated > 20 {
		t.Errorf("the file of %d pods is bad: %d pods are stale, and that allocates %d MB", count, len(f.Status().Stale), allocated)
	}
}

// A log line is made by the kubelet alone: the names of files and keys are quoted, and errors are one line each.
func TestNamesForgeNoLogLine(t *testing.T) {
	const forged = "x\nI0101 00:00:00.000000       1 kubelet.go:1] forged\x1b[2K\r\u009b"
	logged := unittest.Log(t, "0")
	f := newFileTest(t)
	bad, ignored, gone := strings.ReplaceAll(forged, "/", "-")+"1.yaml", forged+"2.txt", forged+"3.yaml"
	f.write("a.yaml", manifest("web", "1"))
	f.settle()
	f.write(bad, "bad: [")
	f.write(ignored, "")
	f.write(forged+"4.yaml", manifest("web", "2"))
	f.link("/no/such/file", gone)
	f.settle()
	f.remove(gone)
	f.write(bad, manifest("db", "1"))
	f.settle()
	if origin := f.last.Pods[len(f.last.Pods)-1].Origin + f.last.Pods[0].Origin; strings.ContainsFunc(origin, unicode.IsControl) {
		t.Errorf("a pod's origin is %q", origin)
	}

	etcd := &SourceEtcd{source: newSource("Etcd source", "etcd", "keys", 0, testParser()), root: "/registry"}
	key := "/registry/" + forged
	for _, value := range []string{"bad: [", manifest("", "1"), list(manifest("a", "1"), manifest("a", "1")), manifest("a", "1")} {
		etcd.input(key).load(value, func() ([]object, error) { return etcd.parse(key, []byte(value)) })
		etcd.publish(t.Context(), make(chan api.PodUpdate, 1))
	}
	etcd.input(key).err = errors.New("")
	etcd.forget(func(string) bool { return true })

	for line := range strings.Lines(logged()) {
		if strings.HasPrefix(line, "I0101") || strings.ContainsFunc(strings.TrimSuffix(line, "\n"), unicode.IsControl) {
			t.Errorf("the log has the line %q", line)
		}
	}
	for _, want := range []string{"1.yaml\":1:6: YAML syntax", "1.yaml\" is read again", "2.txt\" is ignored", "no such file", "3.yaml\" is gone", "4.yaml\": keep one",
		"cannot be a pod's name", `pod "a" is in`, fmt.Sprintf("%q is read again", key)} {
		if !strings.Contains(logged(), want) {
			t.Errorf("the log has no %s:\n%s", want, logged())
		}
	}
}
