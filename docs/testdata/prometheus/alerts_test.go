package prometheus

import (
	"log/slog"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
)

// The rules are good, and each metric in them is one that the kubelet has.
func TestAlerts(t *testing.T) {
	source, err := os.ReadFile("../../../kubelet/server/metrics.go")
	if err != nil {
		t.Fatal(err)
	}
	groups, errs := rulefmt.ParseFile("../../alerts.yaml", false, model.UTF8Validation, parser.NewParser(parser.Options{}), slog.Default())
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	used := map[string]bool{}
	for _, rule := range groups.Groups[0].Rules {
		for _, name := range regexp.MustCompile(`\bkubelet_\w+`).FindAllString(rule.Expr, -1) {
			used[name] = true
			if !strings.Contains(string(source), `"`+name+`"`) {
				t.Errorf("%s: the kubelet has no metric %s", rule.Alert, name)
			}
		}
		if rule.Labels["severity"] == "" {
			t.Errorf("%s has no severity", rule.Alert)
		}
	}
	if !used["kubelet_pod_ready"] {
		t.Error("no alert tells that a pod is not ready")
	}
}
