package docs

import (
	"errors"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	_ "github.com/golang/glog" // has flags of its own
)

// names is what a page may name in backticks.
type names struct {
	known   map[string]bool // Go names, alone and after their package or type; text constants; fields of manifests; files
	flags   map[string]bool
	make    []string     // targets of the Makefile
	words   []string     // of package words
	reasons []string     // of package api
	texts   string       // all string literals of the program
	lines   map[bool]int // of Go: of tests, and of the program
}

func readNames(t *testing.T) *names {
	t.Helper()
	n := &names{known: map[string]bool{}, flags: map[string]bool{}, lines: map[bool]int{}}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && len(d.Name()) > 2 && d.Name()[0] == '.' {
			return fs.SkipDir
		}
		n.known[d.Name()] = true
		if filepath.Ext(path) != ".go" {
			return nil
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		test := strings.HasSuffix(path, "_test.go")
		if test || !notProgram.MatchString(path) {
			n.lines[test] += fset.File(file.Package).LineCount() - 1
		}
		n.addFile(file, test)
		return nil
	})
	makefile, errMake := os.ReadFile("../Makefile")
	words, errWords := os.ReadFile("../kubelet/words/words.go")
	if err := errors.Join(err, errMake, errWords); err != nil {
		t.Fatal(err)
	}
	n.words = submatches(`(?m)^\t\{"([a-z]+)", `, string(words))
	n.make = submatches(`(?m)^([a-z-]+):`, string(makefile))
	return n
}

func (n *names) addFile(file *ast.File, test bool) {
	pkg := file.Name.Name
	declare := func(in string, ids ...*ast.Ident) {
		for _, id := range ids {
			n.known[id.Name], n.known[in+"."+id.Name] = true, true
		}
	}
	ast.Inspect(file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.FuncDecl:
			in := pkg
			if node.Recv != nil {
				in = strings.TrimPrefix(types.ExprString(node.Recv.List[0].Type), "*")
			}
			declare(in, node.Name)
		case *ast.TypeSpec:
			declare(pkg, node.Name)
			ast.Inspect(node.Type, func(part ast.Node) bool {
				if member, ok := part.(*ast.Field); ok {
					declare(node.Name.Name, member.Names...)
					if member.Tag != nil && slices.Contains([]string{"v1", "v1beta1", "api", "options"}, pkg) {
						field, _, _ := strings.Cut(reflect.StructTag(unquote(member.Tag)).Get("json"), ",")
						n.known[field] = true
					}
				}
				return true
			})
		case *ast.ValueSpec:
			declare(pkg, node.Names...)
			for i, value := range node.Values {
				n.known[unquote(value)] = true
				if pkg == "api" && strings.HasPrefix(node.Names[i].Name, "Reason") {
					n.reasons = append(n.reasons, unquote(value))
				}
			}
		case *ast.SelectorExpr: // a name of another package, such as os.Root
			n.known[types.ExprString(node)] = true
		case *ast.CallExpr: // a flag, such as fs.BoolVar(&f.Runonce, "runonce", false, "...")
			if i := slices.IndexFunc(node.Args, func(e ast.Expr) bool { return unquote(e) != "" }); i >= 0 && pkg == "options" && strings.HasPrefix(types.ExprString(node.Fun), "fs.") {
				n.flags[unquote(node.Args[i])] = true
			}
		case *ast.BasicLit:
			if !test {
				n.texts += unquote(node)
			}
		}
		return true
	})
}

// unquote returns the text of a string literal, and nothing for other expressions.
func unquote(e ast.Expr) string {
	text, _ := strconv.Unquote(types.ExprString(e))
	return text
}

var (
	notProgram = regexp.MustCompile(`testdata/|test/|^../docs/|^../manifests/`)
	flagSpan   = regexp.MustCompile(`^--?([a-z][a-z_]*)(=.*)?$`)
	pathSpan   = regexp.MustCompile(`^[\w.*-]+(/[\w.*-]*)+$`)
	nameSpan   = regexp.MustCompile(`^[A-Za-z_]\w*(\.[A-Za-z_]\w*){0,2}(\(\))?$|^\w[\w-]*\.(go|yaml|md|txt|service)$`)
)

// has reports whether what a page has in backticks exists, if it is a name or a path.
func (n *names) has(span string) bool {
	target, isMake := strings.CutPrefix(span, "make ")
	target, _, _ = strings.Cut(target, " ") // without variables, such as EXERCISE=588-1
	f := flagSpan.FindStringSubmatch(span)
	switch {
	case f != nil:
		return n.flags[f[1]] || f[1] == "h" || flag.Lookup(f[1]) != nil && !strings.HasPrefix(f[1], "test.")
	case isMake:
		return slices.Contains(n.make, target)
	case pathSpan.MatchString(span):
		inModule, _ := filepath.Glob(filepath.Join("..", span))
		inDocs, _ := filepath.Glob(span)
		return len(inModule)+len(inDocs) > 0
	case nameSpan.MatchString(span):
		name := strings.TrimSuffix(span, "()")
		return n.known[name] || token.IsKeyword(name) || types.Universe.Lookup(name) != nil
	}
	return true
}
