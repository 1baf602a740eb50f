package dockertools

import (
	"maps"
	"strings"
	"testing"
)

var us = Identity{Hostname: "host-a", RootDir: "/var/lib/a"}

const ourName = "k8s_web.1_www.default.file_u_1"

func labelled(name string, id Identity, more map[string]string) Container {
	labels := id.Labels(name)
	maps.Copy(labels, more)
	return Container{Name: name, Labels: labels}
}

func TestOwn(t *testing.T) {
	tests := []struct {
		name string
		c    Container
		want bool
	}{
		{"ours", labelled(ourName, us, nil), true},
		{"ours, which awaits its postStart", labelled(ourName+"_poststart", us, nil), true},
		{"ours, which was renamed when that was done", Container{Name: ourName, Labels: us.Labels(ourName + "_poststart")}, true},
		{"no labels", Container{Name: ourName}, false},
		{"another hostname", labelled(ourName, Identity{"host-b", us.RootDir}, nil), false},
		{"another root_dir", labelled(ourName, Identity{us.Hostname, "/var/lib/b"}, nil), false},
		{"run from an image that was committed from ours: the labels are copied, the name is not", Container{Name: "other", Labels: us.Labels(ourName)}, false},
		{"the same under a name like ours", Container{Name: "k8s_web.1_www.default.file_u_2", Labels: us.Labels(ourName)}, false},
		{"the same under a name like ours that awaits its postStart", Container{Name: "k8s_web.1_www.default.file_u_2_poststart", Labels: us.Labels(ourName)}, false},
		{"true labels on a name that says nothing", labelled("web", us, nil), false},
		{"no name at all", labelled("", us, nil), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, got := us.Own(tt.c); got != tt.want {
				t.Errorf("own: %v, want %v", got, tt.want)
			}
		})
	}
}

func TestOwnReadsTheLabels(t *testing.T) {
	o, ok := us.Own(labelled(ourName, us, map[string]string{LabelNetworkContainer: "abc", LabelQuickEnds: "3", LabelLifecycle: "{}"}))
	if !ok || o.NetworkContainer != "abc" || o.QuickEnds != 3 || o.Lifecycle != "{}" || o.Of.PodFullName != "www.default.file" || o.Of.AwaitsHook {
		t.Errorf("read %+v, %v", o, ok)
	}
	if o, _ := us.Own(labelled(ourName+"_poststart", us, nil)); !o.Of.AwaitsHook || o.Of.Attempt != 1 || o.Lifecycle != "" {
		t.Errorf("of one that awaits its postStart %+v is read", o)
	}
	for _, nonsense := range []string{"many", "-1"} {
		if o, _ := us.Own(labelled(ourName, us, map[string]string{LabelQuickEnds: nonsense})); o.QuickEnds != 0 {
			t.Errorf("quick ends %q: read as %d, want 0", nonsense, o.QuickEnds)
		}
	}
}

func TestCheckHalves(t *testing.T) {
	other := Identity{"host-b", "/var/lib/b"}
	if err := us.CheckHalves([]Container{labelled(ourName, us, nil), labelled("x", other, nil), {Name: "foreign"}}); err != nil {
		t.Errorf("our own, another kubelet's and a stranger's containers: %v", err)
	}
	for _, half := range []Identity{{us.Hostname, other.RootDir}, {other.Hostname, us.RootDir}} {
		err := us.CheckHalves([]Container{labelled(ourName, half, nil)})
		if err == nil {
			t.Errorf("a container of %+v does not stop %+v", half, us)
			continue
		}
		for _, part := range []string{half.Hostname, half.RootDir, us.Hostname, us.RootDir, "-hostname_override", "-cleanup", ourName} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("the error does not say %q: %v", part, err)
			}
		}
	}
	if err := us.CheckHalves([]Container{{Name: "committed", Labels: Identity{us.Hostname, other.RootDir}.Labels(ourName)}}); err != nil {
		t.Errorf("a container with copied labels is a stranger: %v", err)
	}
}
