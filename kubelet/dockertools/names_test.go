package dockertools

import (
	"fmt"
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
		{"ours, of a version that marked one whose postStart had not run", Container{Name: ourName + "_poststart", Labels: us.Labels(ourName)}, true},
		{"no labels", Container{Name: ourName}, false},
		{"another hostname", labelled(ourName, Identity{"host-b", us.RootDir}, nil), false},
		{"another root_dir", labelled(ourName, Identity{us.Hostname, "/var/lib/b"}, nil), false},
		{"run from an image that was committed from ours: the labels are copied, the name is not", Container{Name: "other", Labels: us.Labels(ourName)}, false},
		{"the same under a name like ours", Container{Name: "k8s_web.1_www.default.file_u_2", Labels: us.Labels(ourName)}, false},
		{"the same with the mark", Container{Name: "k8s_web.1_www.default.file_u_2_poststart", Labels: us.Labels(ourName)}, false},
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
	if !ok || o.NetworkContainer != "abc" || o.QuickEnds != 3 || o.Lifecycle != "{}" || o.Of.PodFullName != "www.default.file" {
		t.Errorf("read %+v, %v", o, ok)
	}
	for _, nonsense := range []string{"many", "-1"} {
		if o, _ := us.Own(labelled(ourName, us, map[string]string{LabelQuickEnds: nonsense})); o.QuickEnds != 0 {
			t.Errorf("quick ends %q: read as %d, want 0", nonsense, o.QuickEnds)
		}
	}
}

func TestCheckConflict(t *testing.T) {
	other := Identity{"host-b", "/var/lib/b"}
	if err := us.CheckConflict([]Container{labelled(ourName, us, nil), labelled("x", other, nil), {Name: "foreign"}}); err != nil {
		t.Errorf("our own, another kubelet's and a stranger's containers: %v", err)
	}
	for _, half := range []Identity{{us.Hostname, other.RootDir}, {other.Hostname, us.RootDir}} {
		err := us.CheckConflict([]Container{labelled(ourName, half, nil)})
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
	if err := us.CheckConflict([]Container{{Name: "committed", Labels: Identity{us.Hostname, other.RootDir}.Labels(ourName)}}); err != nil {
		t.Errorf("a container with copied labels is a stranger: %v", err)
	}
}

func TestContainerNameRoundTrip(t *testing.T) {
	for _, p := range []NameParts{
		{"web", "0badf00d", "web.default.file", "0123456789abcdef0123456789abcdef", 1},
		{"with-dashes", "1", "a.b-c.example.com.default.http", "A-uuid-1", 42},
		{"net", "ffffffff", "same.default.etcd", "same", 2147483647},
		{"c", "0", strings.Repeat("x", 253) + "." + strings.Repeat("y", 63) + ".etcd", strings.Repeat("u", 63), 7},
		{"poststart", "0", "poststart.default.file", "poststart", 1},
	} {
		got, ok := ParseContainerName(p.String())
		if !ok || got != p {
			t.Errorf("%q: parsed to %+v, %v; want %+v", p.String(), got, ok, p)
		}
	}
}

// The names pin what a running host is found by: an incompatible change here
// makes every pod of every user start anew.
func TestContainerNameGolden(t *testing.T) {
	p := NameParts{Name: "web", Hash: "0badf00d", PodFullName: "www.default.file", UID: "u-1", Attempt: 3}
	if got, want := p.String(), "k8s_web.0badf00d_www.default.file_u-1_3"; got != want {
		t.Errorf("name %q, want %q", got, want)
	}
}

func TestForeignContainerNames(t *testing.T) {
	for _, name := range []string{
		"", "web", "k8s_x_y_z", "k8s_POD_web-0_default_0123_0", "k8s_web.1_p.d.s_u_0", "k8s_web.1_p.d.s_u_01", "k8s_web.1_p.d.s_u_-1", "k8s_web.1_p.d.s_u_1_1",
		"k8s_.1_p.d.s_u_1", "k8s_web._p.d.s_u_1", "k8s_web.1__u_1", "k8s_web.1_p.d.s__1", "/k8s_web.1_p.d.s_u_1", "k9s_web.1_p.d.s_u_1", "k8s_web.1_p.d.s_u_99999999999999999999",
		"k8s_web.1_p.d.s_u_poststart", "k8s_web.1_p.d.s_u_1_poststart_poststart", "k8s_web.1_p.d.s_u_1_Poststart", "k8s_web.1_p.d.s_u_1poststart", "k8s_web.1_p.d.s_u_1_", "_poststart",
	} {
		if p, ok := ParseContainerName(name); ok {
			t.Errorf("%q is taken for a container of ours: %+v", name, p)
		}
	}
}

func TestAuthShowsNoSecret(t *testing.T) {
	for _, auth := range []Auth{
		{Username: "user", Password: "secret", ServerAddress: "example.com"},
		{IdentityToken: "secret", ServerAddress: "example.com"},
		{Username: "user", Password: "secret", IdentityToken: "secret"},
	} {
		holder := struct{ Auth Auth }{auth}
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
			for _, value := range []any{auth, &auth, []Auth{auth}, holder} {
				if text := fmt.Sprintf(verb, value); strings.Contains(text, "secret") || !strings.Contains(text, "for") {
					t.Errorf("%s of a %T: %s", verb, value, text)
				}
			}
		}
	}
}
