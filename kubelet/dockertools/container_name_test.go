package dockertools

import (
	"strings"
	"testing"
)

func TestContainerNameRoundTrip(t *testing.T) {
	for _, p := range []NameParts{
		{"web", "0badf00d", "web.default.file", "0123456789abcdef0123456789abcdef", 1, false},
		{"with-dashes", "1", "a.b-c.example.com.default.http", "A-uuid-1", 42, false},
		{"net", "ffffffff", "same.default.etcd", "same", 2147483647, false},
		{"c", "0", strings.Repeat("x", 253) + "." + strings.Repeat("y", 63) + ".etcd", strings.Repeat("u", 63), 7, false},
		{"web", "0badf00d", "web.default.file", "u", 1, true},
		{"poststart", "0", "poststart.default.file", "poststart", 1, true},
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
	p.AwaitsHook = true
	if got, want := p.String(), "k8s_web.0badf00d_www.default.file_u-1_3_poststart"; got != want {
		t.Errorf("name %q while it awaits its postStart, want %q", got, want)
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

func FuzzParseContainerName(f *testing.F) {
	f.Add("k8s_web.0badf00d_www.default.file_u-1_3")
	f.Add("k8s_web.0badf00d_www.default.file_u-1_3_poststart")
	f.Add("k8s_x_y_z")
	f.Fuzz(func(t *testing.T, name string) {
		if p, ok := ParseContainerName(name); ok && p.String() != name {
			t.Errorf("%q is parsed to %+v, which is called %q", name, p, p.String())
		}
	})
}
