package dns

import (
	"reflect"
	"strings"
	"testing"

	"kubelet14/api"
)

func TestDNSOfAPod(t *testing.T) {
	for name, tt := range map[string]struct{ written, want *api.DNSConfig }{
		"nothing": {nil, &api.DNSConfig{Searches: []string{"team", "example.com"}, Options: []string{"ndots:1"}}},
		"all": {&api.DNSConfig{Nameservers: []string{"10.0.0.2"}, Searches: []string{"a", "b"}, Options: []string{"ndots:2"}},
			&api.DNSConfig{Nameservers: []string{"10.0.0.2"}, Searches: []string{"team", "a", "b"}, Options: []string{"ndots:2"}}},
		"no domains": {&api.DNSConfig{Searches: []string{"."}, Options: []string{"rotate"}},
			&api.DNSConfig{Searches: []string{"team"}, Options: []string{"rotate", "ndots:1"}}},
	} {
		if got := InNamespace("team", tt.written, []string{"example.com"}); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}

func TestSearchDomains(t *testing.T) {
	got := searchDomains("# search no\nnameserver 127.0.0.1\n\nsearch old\nsearch\ta.example b.example\noptions ndots:5 timeout:1\n")
	if strings.Join(got, ",") != "a.example,b.example" {
		t.Errorf("read %q", got)
	}
}
