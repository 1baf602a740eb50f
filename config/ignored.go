package config

import (
	"fmt"
	"strings"

	"github.com/golang/glog"

	"kubelet14/api"
)

// logIgnored logs what is read and means nothing here, each line once while it is so.
func (s *source) logIgnored(update api.PodUpdate, leftOut []string) {
	before := s.ignored
	s.ignored = map[string]bool{}
	log := func(line string) {
		if s.ignored[line] = true; !before[line] {
			s.parser.warn(line)
		}
	}
	fields := func(kind string, fields []string) {
		if len(fields) > 0 {
			log(kind + ": these fields mean nothing here: " + strings.Join(fields, ", "))
		}
	}
	for _, pod := range update.Pods {
		fields("pod "+pod.String(), pod.Manifest.Ignored)
	}
	for _, service := range update.Services {
		fields(fmt.Sprintf("service %s (%s)", service.Name, service.Origin), service.Ignored)
	}
	for _, line := range leftOut {
		log(line)
	}
}

func (p Parser) warn(text string) {
	if p.Warn != nil {
		p.Warn(text)
	} else {
		glog.WarningDepth(1, text)
	}
}
