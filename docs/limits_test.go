package docs

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// The table of limits has the time limits and sizes of the program, with the values that the constants have.
func TestLimitsAreThoseOfTheProgram(t *testing.T) {
	limits := readLimits(t)
	for _, m := range regexp.MustCompile("(\\d[\\d,.]*)(ms|s|m| KiB| MiB)? \\(`(\\w+)`\\)").FindAllStringSubmatch(readPage(t, "operators.md").section("Limits"), -1) {
		written, name := m[1]+m[2], m[3]
		stated := int64(number(m[1])) << map[string]int{" KiB": 10, " MiB": 20}[m[2]]
		if d, err := time.ParseDuration(written); err == nil {
			stated = int64(d)
		}
		if value, ok := limits[name]; !ok || value != stated {
			t.Errorf("the page says that %s is %s, and it is %d", name, written, value)
		}
		delete(limits, name)
	}
	for name := range limits {
		t.Errorf("the table lacks %s", name)
	}
}

var (
	isTime = regexp.MustCompile(`\btime\.[A-Z]`)
	isSize = regexp.MustCompile(`^[mM]ax[A-Z]`)
	units  = strings.NewReplacer("time.Millisecond", "1000000", "time.Second", "1000000000", "time.Minute", "60000000000")
)

// readLimits returns the constants of the program that are times, in nanoseconds, and those whose names begin with max.
func readLimits(t *testing.T) map[string]int64 {
	limits := map[string]int64{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || notProgram.MatchString(path) {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			group, isGroup := decl.(*ast.GenDecl)
			for i := 0; isGroup && group.Tok == token.CONST && i < len(group.Specs); i++ {
				spec := group.Specs[i].(*ast.ValueSpec)
				for j, value := range spec.Values {
					text, name := types.ExprString(value), spec.Names[j].Name
					if !isTime.MatchString(text) && !isSize.MatchString(name) {
						continue
					}
					result, err := types.Eval(token.NewFileSet(), nil, token.NoPos, units.Replace(text))
					if err != nil {
						return err
					}
					limits[name], _ = constant.Int64Val(result.Value)
				}
			}
		}
		return nil
	})
	if err != nil || len(limits) == 0 {
		t.Fatal(err, len(limits))
	}
	return limits
}
