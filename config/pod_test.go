package config

import (
	"strings"
	"testing"
)

func todaysPod(name, namespace, image, spec string) string {
	return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", namespace: " + namespace + "}\nspec: {" + spec +
		"containers: [{name: main, image: \"" + image + "\"}]}\n"
}

// The fields of a pod that mean nothing here are logged once, on one line, and again when the pod has changed.
func TestIgnoredFieldsAreLoggedOnce(t *testing.T) {
	f := newFileTest(t)
	log := captureLog(t)
	lines := func() string {
		var found []string
		for line := range strings.Lines(log()) {
			if _, what, ok := strings.Cut(line, "] pod "); ok {
				found = append(found, strings.Replace(what, f.dir, "", 1))
			}
		}
		return strings.Join(found, "")
	}
	const once = "web.shop.file (/web.yaml): these fields mean nothing here: spec.nodeName, spec.priority\n"
	f.write("web.yaml", todaysPod("web", "shop", "1", "nodeName: a, priority: 3, tolerations: [], "))
	f.write("db.yaml", todaysPod("db", "shop", "1", ""))
	f.expect("db=1 web=1")
	f.write("db.yaml", todaysPod("db", "shop", "2", ""))
	f.expect("db=2 web=1")
	if got := lines(); got != once {
		t.Errorf("the log has\n%s", got)
	}
	f.write("web.yaml", todaysPod("web", "shop", "2", "nodeName: a, priority: 3, "))
	f.expect("db=2 web=2")
	if got := lines(); got != once+once {
		t.Errorf("after a change the log has\n%s", got)
	}
}

// A pod is known by its name and its namespace.
func TestSameNameInAnotherNamespace(t *testing.T) {
	f := newFileTest(t)
	f.write("a.yaml", todaysPod("web", "shop", "1", ""), todaysPod("web", "default", "2", ""))
	f.write("b.yaml", todaysPod("web", "bank", "3", ""))
	f.expect("web=1 web=2 web=3")
	if a, b := f.last.Pods[0], f.last.Pods[1]; a.FullName() != "web.shop.file" || b.FullName() != "web.default.file" || a.UID == b.UID {
		t.Errorf("got %s with %s and %s with %s", a.FullName(), a.UID, b.FullName(), b.UID)
	}
	f.write("c.yaml", manifest("web", "4")) // of 2014, so in the namespace default
	f.expect("web=1 web=2 web=3", `pod "web" is in `+f.path("a.yaml")+" and "+f.path("c.yaml"))
}
