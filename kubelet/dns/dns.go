// Package dns has the names of pods in the pod network, and makes the resolver's configuration of a pod, so that those of its namespace
// need no suffix.
package dns

import (
	"cmp"
	"os"
	"slices"
	"strings"

	"kubelet14/api"
)

// InNamespace returns the DNS configuration of a pod in a namespace. Like Docker, it takes from the
// host the search domains that the manifest does not have. ndots:1 is for the namespace to be
// tried first: without it Docker asks the host's DNS servers for the bare name before that.
func InNamespace(namespace string, written *api.DNSConfig, hostSearches []string) *api.DNSConfig {
	dns := *cmp.Or(written, &api.DNSConfig{})
	if len(dns.Searches) == 0 {
		dns.Searches = hostSearches
	}
	dns.Searches = slices.Concat([]string{namespace}, dns.Searches)
	dns.Searches = slices.DeleteFunc(dns.Searches, func(domain string) bool { return domain == "." }) // it means none
	if !slices.ContainsFunc(dns.Options, func(option string) bool { return strings.HasPrefix(option, "ndots:") }) {
		dns.Options = append(slices.Clone(dns.Options), "ndots:1")
	}
	return &dns
}

// HostSearches returns the search domains of this host's resolver.
func HostSearches() []string {
	text, _ := os.ReadFile("/etc/resolv.conf") // without one there are none
	return searchDomains(string(text))
}

func searchDomains(resolvConf string) (domains []string) {
	for line := range strings.Lines(resolvConf) {
		if fields := strings.Fields(line); len(fields) > 0 && fields[0] == "search" {
			domains = fields[1:]
		}
	}
	return domains
}
