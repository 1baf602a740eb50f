package config

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"kubelet14/api"
)

// Check reads files and directories, and standard input for "-", once and as one source. It returns the number of files and
// what they have, or all that is wrong with any of them, with the paths as they are given.
func Check(parser Parser, paths []string, stdin io.Reader) (files int, found api.PodUpdate, err error) {
	s := NewSourceFile("", time.Hour, parser)
	all, errs := fingerprints{}, []error(nil)
	for _, path := range paths {
		if path == "-" {
			continue
		}
		s.place = path
		found, err := s.fingerprints()
		errs = append(errs, err)
		maps.Copy(all, found)
	}
	s.last = all
	s.read(all, time.Time{})
	if slices.Contains(paths, "-") {
		in := s.input("-")
		in.label = "standard input"
		in.load("read", func() ([]object, error) {
			text, err := io.ReadAll(io.LimitReader(stdin, api.MaxManifestBytes+1))
			if err != nil {
				return nil, err
			}
			return parser.objects("file", "standard input", text, func(number int) string { return fileName("-", number) })
		})
	}
	found, leftOut := s.set()
	s.logIgnored(found, leftOut)
	if files = len(s.inputs) - 1; files == 0 {
		errs = append(errs, fmt.Errorf("there is nothing to check: give files, or directories with files whose names end in %s", strings.Join(manifestSuffixes, ", ")))
	}
	return files, found, errors.Join(append(errs, found.Err)...)
}
