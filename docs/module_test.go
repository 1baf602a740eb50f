package docs

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	_ "github.com/golang/glog" // its flags are ours too
)

// module is every name that a page may name.
type module struct {
	names map[string]bool // Go names alone, and after their package or type; text constants; fields of manifests; files
	flags map[string]bool
	make  map[string]bool // targets
	// The reasons of package api, and all texts of the program behind one another.
	reasons map[string]bool
	texts   string
}

// readModule parses every Go file there is.
func readModule(t *testing.T) *module {
	t.Helper()
	m := &module{names: map[string]bool{}, flags: map[string]bool{}, make: map[string]bool{}, reasons: map[string]bool{}}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || path != ".." && strings.HasPrefix(d.Name(), ".") {
			return err
		}
		m.names[d.Name()] = true
		if filepath.Ext(path) != ".go" {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		m.addFile(file)
		if !strings.HasSuffix(path, "_test.go") {
			ast.Inspect(file, func(n ast.Node) bool {
				if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
					m.texts += unquote(text)
				}
				return true
			})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range regexp.MustCompile(`(?m)^([a-z]+):`).FindAllStringSubmatch(string(makefile), -1) {
		m.make[target[1]] = true
	}
	return m
}

// addFile adds what a file declares, and what it uses of other packages, such as
// os.Root.
func (m *module) addFile(file *ast.File) {
	pkg := file.Name.Name
	add := func(in, name string) {
		m.names[name], m.names[in+"."+name] = true, true
	}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			in := pkg
			if d.Recv != nil {
				in = strings.TrimPrefix(types.ExprString(d.Recv.List[0].Type), "*")
			}
			add(in, d.Name.Name)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				m.addSpec(spec, pkg, add)
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if pkg, ok := n.X.(*ast.Ident); ok {
				m.names[pkg.Name+"."+n.Sel.Name] = true
			}
		case *ast.CallExpr: // such as ours.BoolVar(&f.runonce, "runonce", false, "...")
			if strings.HasSuffix(types.ExprString(n.Fun), "Var") && len(n.Args) >= 3 && unquote(n.Args[1]) != "" {
				m.flags[unquote(n.Args[1])] = true
			}
		}
		return true
	})
}

func (m *module) addSpec(spec ast.Spec, pkg string, add func(in, name string)) {
	switch s := spec.(type) {
	case *ast.ValueSpec:
		for _, name := range s.Names {
			add(pkg, name.Name)
		}
		for i, value := range s.Values {
			m.names[unquote(value)] = true
			if pkg == "api" && strings.HasPrefix(s.Names[i].Name, "Reason") {
				m.reasons[unquote(value)] = true
			}
		}
	case *ast.TypeSpec:
		add(pkg, s.Name.Name)
		var members *ast.FieldList
		switch t := s.Type.(type) {
		case *ast.StructType:
			members = t.Fields
		case *ast.InterfaceType:
			members = t.Methods
		default:
			return
		}
		for _, field := range members.List {
			for _, name := range field.Names {
				add(s.Name.Name, name.Name)
			}
			if field.Tag != nil && (pkg == "v1beta1" || pkg == "api") { // v1beta1 has some of its types from api
				name, _, _ := strings.Cut(reflect.StructTag(unquote(field.Tag)).Get("json"), ",")
				m.names[name] = true
			}
		}
	}
}

// unquote gives the text of a string literal, and nothing for all else.
func unquote(e ast.Expr) string {
	text, _ := strconv.Unquote(types.ExprString(e))
	return text
}

var (
	flagSpan  = regexp.MustCompile(`^--?([a-z][a-z_]*)(=.*)?$`)
	pathSpan  = regexp.MustCompile(`^[\w.*-]+(/[\w.*-]*)+$`)
	identSpan = regexp.MustCompile(`^[A-Za-z_]\w*(\.[A-Za-z_]\w*){0,2}(\(\))?$`)
	fileSpan  = regexp.MustCompile(`^\w[\w-]*\.(go|yaml|md|txt|service)$`)
)

// problem says what is wrong with words in backticks. Commands, and whatever is
// neither a name nor a path, are not looked into.
func (m *module) problem(span string) error {
	target, isMake := strings.CutPrefix(span, "make ")
	switch f := flagSpan.FindStringSubmatch(span); {
	case f != nil:
		return m.flagProblem(f[1])
	case isMake && !m.make[target]:
		return fmt.Errorf("the Makefile has no target %q", target)
	case pathSpan.MatchString(span):
		inModule, _ := filepath.Glob(filepath.Join("..", span))
		inDocs, _ := filepath.Glob(span)
		if len(inModule)+len(inDocs) == 0 {
			return fmt.Errorf("there is no file %q", span)
		}
	case identSpan.MatchString(span) || fileSpan.MatchString(span):
		name := strings.TrimSuffix(span, "()")
		if !m.names[name] && !token.IsKeyword(name) && types.Universe.Lookup(name) == nil {
			return fmt.Errorf("nothing has the name %q", span)
		}
	}
	return nil
}

func (m *module) flagProblem(name string) error {
	known := m.flags[name] || name == "h" || flag.Lookup(name) != nil && !strings.HasPrefix(name, "test.")
	if !known {
		return fmt.Errorf("there is no flag -%s", name)
	}
	return nil
}
