package validation_test

import (
	"strings"
	"testing"

	"kubelet14/api"
	"kubelet14/api/validation"
)

func TestNames(t *testing.T) {
	always := []string{"", " ", "a b", "a ", "a\n", "a\x00", "é"}
	label, domain := strings.Repeat("a", 63), strings.Repeat("a.", 126)+"a" // 253 characters
	for field, tt := range map[string]struct {
		set       func(p *api.Pod, name string)
		good, bad string // separated by blanks
	}{
		"volumes[0].name": {func(p *api.Pod, name string) { p.Manifest.Volumes = []api.Volume{{Name: name}} },
			"a ab abc a1 a-1 a--1--2--b 0 01 012 1a 1-a 1--a--b--2 " + label,
			"A ABC aBc A1 - a- -a 1- -1 _ a_ _a a_b 1_ _1 . a. .a a.b 1. .1 1.2 ../a a" + label},
		"name": {func(p *api.Pod, name string) { p.Name = name },
			"a ab 0 01 a-1 a.a ab.a ab.c a1.c1 a-1.c 0.a 0.1.2 a.b.c.d.e aa.bb.cc.dd.ee " + domain,
			"A a.B . a. .a a..b -a a- a.-b a-.b _ a_b a.b_c 1. .1 a.b.c. ../.. a." + domain},
		"containers[0].env[0].name": {func(p *api.Pod, name string) {
			p.Manifest.Containers = []api.Container{{Name: "a", Image: "a", Env: []api.EnvVar{{Name: name}}}}
		}, "a ab A AB a1 _a a_ a_b _1 _ __ abcABC_09", "1 1a - a- a-b -a . a.b a=b $a"},
		"uid": {func(p *api.Pod, name string) { p.UID = name },
			"a A 0 3f2504e0-4f89-11d3-9a0c-0305e82c3301 a-B-0 " + label, "a_b a.b . .. ../a a/b a" + label},
	} {
		problems := func(name string) api.FieldErrors {
			p := api.Pod{Name: "a", Namespace: "default", Source: "file", UID: "x", Manifest: api.ContainerManifest{Version: "v1beta1"}}
			tt.set(&p, name)
			return validation.Rules{}.ValidatePod(&p)
		}
		for _, name := range strings.Fields(tt.good) {
			if errs := problems(name); len(errs) > 0 {
				t.Errorf("%s %q: %v", field, name, errs)
			}
		}
		for _, name := range append(strings.Fields(tt.bad), always...) {
			if errs := problems(name); len(errs) != 1 || errs[0].Field != field {
				t.Errorf("%s %q: %v", field, name, errs)
			}
		}
	}
}
