package dockertools

import (
	"maps"
	"strings"
	"testing"

	"kubelet14/api/unittest"
)

var us = Identity{Hostname: "host-a", RootDir: "/var/lib/a"}

const ourName = "k8s_web.1_www.default.file_u_1"

func labelled(name string, id Identity, more map[string]string) Container {
	labels := id.Labels(name)
	maps.Copy(labels, more)
	return Container{Name: name, Labels: labels}
}

func TestOwn(t *testing.T) {
	for name, tt := range map[string]struct {
		c    Container
		want bool
	}{
		"ours":                 {labelled(ourName, us, nil), true},
		"no labels":            {Container{Name: ourName}, false},
		"another hostname":     {labelled(ourName, Identity{"host-b", us.RootDir}, nil), false},
		"another root_dir":     {labelled(ourName, Identity{us.Hostname, "/var/lib/b"}, nil), false},
		"a committed image":    {Container{Name: "other", Labels: us.Labels(ourName)}, false}, // it has our labels
		"under a name of ours": {Container{Name: "k8s_web.1_www.default.file_u_2", Labels: us.Labels(ourName)}, false},
		"another name":         {labelled("web", us, nil), false},
		"no name":              {labelled("", us, nil), false},
	} {
		if _, got := us.Own(tt.c); got != tt.want {
			t.Errorf("%s: own is %v, want %v", name, got, tt.want)
		}
	}
	for text, want := range map[string]int{"3": 3, "many": 0, "-1": 0} {
		o, ok := us.Own(labelled(ourName, us, map[string]string{LabelNetworkContainer: "abc", LabelQuickEnds: text}))
		if !ok || o.NetworkContainer != "abc" || o.QuickEnds != want || o.Of.PodFullName != "www.default.file" {
			t.Errorf("quick ends %q: read %+v, %v", text, o, ok)
		}
	}
	fifth := strings.TrimSuffix(ourName, "1") + "5"
	for text, want := range map[string]int{"3": 3, "0": 0, "-1": 0, "": 0} { // the first attempt has no label
		if o, ok := us.Own(labelled(fifth, us, map[string]string{LabelRestarts: text})); !ok || o.Restarts != want {
			t.Errorf("restarts %q: read %+v, %v; want %d", text, o, ok, want)
		}
	}
}

func TestCheckConflict(t *testing.T) {
	other := Identity{"host-b", "/var/lib/b"}
	copied := Container{Name: "committed", Labels: Identity{us.Hostname, other.RootDir}.Labels(ourName)}
	if _, err := us.CheckConflict([]Container{labelled(ourName, us, nil), labelled("x", other, nil), {Name: "foreign"}, copied}, false); err != nil {
		t.Errorf("our own, another kubelet's, a stranger's and one with copied labels: %v", err)
	}
	for _, half := range []Identity{{us.Hostname, other.RootDir}, {other.Hostname, us.RootDir}} {
		_, err := us.CheckConflict([]Container{labelled(ourName, half, nil)}, false)
		unittest.Says(t, err, half.Hostname, half.RootDir, us.Hostname, us.RootDir, "-hostname_override", "-cleanup", ourName)
	}
}

// A kubelet finds its containers by these names. If they changed, an upgrade would replace every pod.
func TestContainerNames(t *testing.T) {
	long, uid := strings.Repeat("x", 253)+"."+strings.Repeat("y", 63)+".etcd", strings.Repeat("u", 63)
	for want, p := range map[string]NameParts{
		"k8s_web.0badf00d_www.default.file_u-1_3":                 {"web", "0badf00d", "www.default.file", "u-1", 3},
		"k8s_with-dashes.1_a.b-c.example.com.default.http_A-1_42": {"with-dashes", "1", "a.b-c.example.com.default.http", "A-1", 42},
		"k8s_net.ffffffff_same.default.etcd_same_2147483647":      {"net", "ffffffff", "same.default.etcd", "same", 2147483647},
		"k8s_c.0_" + long + "_" + uid + "_7":                      {"c", "0", long, uid, 7},
		"k8s_poststart.0_poststart.default.file_poststart_1":      {"poststart", "0", "poststart.default.file", "poststart", 1},
	} {
		if got, ok := ParseContainerName(want); p.String() != want || !ok || got != p {
			t.Errorf("name %q, want %q, which is parsed to %+v, %v", p, want, got, ok)
		}
	}
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
