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
	names   map[string]bool // Go names as X, Type.X, pkg.X and pkg.Type.X; values of constants; fields of manifests
	flags   map[string]bool
	targets map[string]bool // of make
	files   map[string]bool // by base name
}

// readModule parses every Go file there is.
func readModule(t *testing.T) *module {
	t.Helper()
	m := &module{map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != ".." {
			return filepath.SkipDir // what a neighbour's test removes meanwhile is no page's matter
		}
		m.files[d.Name()] = true
		if filepath.Ext(path) != ".go" {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err == nil {
			m.addFile(file, strings.HasSuffix(path, "_test.go"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range regexp.MustCompile(`(?m)^([a-z]+):`).FindAllStringSubmatch(string(makefile), -1) {
		m.targets[target[1]] = true
	}
	return m
}

// addFile adds the names of a file; of a test file its tests alone.
func (m *module) addFile(file *ast.File, isTest bool) {
	pkg := file.Name.Name
	m.names[pkg] = true
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				m.add(pkg, "", d.Name.Name)
			} else if !isTest {
				m.add(pkg, receiver(d.Recv.List[0].Type), d.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if !isTest {
					m.addSpec(pkg, spec)
				}
			}
		}
	}
	if !isTest {
		m.addUses(file)
	}
}

func (m *module) add(pkg, typ, name string) {
	m.names[name] = true
	if typ == "" {
		m.names[pkg+"."+name] = true
		return
	}
	m.names[typ+"."+name] = true
	m.names[pkg+"."+typ+"."+name] = true
}

func receiver(t ast.Expr) string {
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	return t.(*ast.Ident).Name // no type of ours with methods is generic
}

func (m *module) addSpec(pkg string, spec ast.Spec) {
	switch s := spec.(type) {
	case *ast.ValueSpec:
		for _, name := range s.Names {
			m.add(pkg, "", name.Name)
		}
		for _, value := range s.Values {
			if lit, ok := value.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				text, _ := strconv.Unquote(lit.Value)
				m.names[text] = true
			}
		}
	case *ast.TypeSpec:
		m.add(pkg, "", s.Name.Name)
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
				m.add(pkg, s.Name.Name, name.Name)
			}
			if field.Tag != nil && pkg == "v1beta1" {
				tag, _ := strconv.Unquote(field.Tag.Value)
				name, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
				m.names[name] = true
			}
		}
	}
}

// addUses adds what the file uses of other packages, such as os.Root, and the
// flags it defines.
func (m *module) addUses(file *ast.File) {
	imported := map[string]bool{}
	for _, spec := range file.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		imported[path[strings.LastIndex(path, "/")+1:]] = true
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && imported[x.Name] {
				m.names[x.Name+"."+n.Sel.Name] = true
			}
		case *ast.CallExpr:
			f, ok := n.Fun.(*ast.SelectorExpr)
			if ok && strings.HasSuffix(f.Sel.Name, "Var") && len(n.Args) == 4 {
				if lit, ok := n.Args[1].(*ast.BasicLit); ok {
					name, _ := strconv.Unquote(lit.Value)
					m.flags[name] = true
				}
			}
		}
		return true
	})
}

var (
	flagSpan  = regexp.MustCompile(`^--?([a-z][a-z_]*)(=.*)?$`)
	pathSpan  = regexp.MustCompile(`^[\w.*-]+(/[\w.*-]*)+$`)
	fileSpan  = regexp.MustCompile(`^[\w-]+\.(go|yaml|md|txt|service)$`)
	identSpan = regexp.MustCompile(`^[A-Za-z_]\w*(\.[A-Za-z_]\w*){0,2}(\(\))?$`)
)

// problem says what is wrong with words in backticks. Commands, and whatever is
// neither a name nor a path, are not looked into.
func (m *module) problem(span string) error {
	if target, ok := strings.CutPrefix(span, "make "); ok && !m.targets[target] {
		return fmt.Errorf("the Makefile has no target %q", target)
	}
	if f := flagSpan.FindStringSubmatch(span); f != nil {
		return m.flagProblem(f[1])
	}
	if pathSpan.MatchString(span) {
		for _, dir := range []string{"..", "."} {
			if found, _ := filepath.Glob(filepath.Join(dir, span)); len(found) > 0 {
				return nil
			}
		}
		return fmt.Errorf("there is no file %q", span)
	}
	if fileSpan.MatchString(span) && !m.files[span] {
		return fmt.Errorf("no file has the name %q", span)
	}
	name := strings.TrimSuffix(span, "()")
	known := m.names[name] || m.files[name] || token.IsKeyword(name) || types.Universe.Lookup(name) != nil
	if identSpan.MatchString(span) && !known {
		return fmt.Errorf("nothing has the name %q", span)
	}
	return nil
}

func (m *module) flagProblem(name string) error {
	if name != "h" && !m.flags[name] && (flag.Lookup(name) == nil || strings.HasPrefix(name, "test.")) {
		return fmt.Errorf("there is no flag -%s", name)
	}
	return nil
}
