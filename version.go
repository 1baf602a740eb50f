package main

import (
	"runtime/debug"
	"strings"
)

// release is the version of the source; at a release it is the tag of the commit.
var release = "v0.4-14-dev"

// version tells builds apart: -version, /node, the metrics and the table of all hosts have it.
var version = fullVersion()

// fullVersion returns the release with the date and the number of its commit, such as v0.4-14-dev+20261123.f40ce90abcde, and
// .modified if the source was edited since. Without git, or with -buildvcs=false, only the release is known.
func fullVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return release
	}
	vcs := map[string]string{}
	for _, setting := range info.Settings {
		vcs[setting.Key] = setting.Value
	}
	commit := vcs["vcs.revision"]
	if commit == "" {
		return release
	}
	date, _, _ := strings.Cut(vcs["vcs.time"], "T")
	full := release + "+" + strings.ReplaceAll(date, "-", "") + "." + commit[:min(12, len(commit))]
	if vcs["vcs.modified"] == "true" {
		full += ".modified"
	}
	return full
}
