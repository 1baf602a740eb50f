package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// InternalVersion is the version of the internal types, one end of every conversion.
const InternalVersion = ""

// Scheme has the types of each wire version, and a registered function for each conversion from and to the internal
// types (PR #565).
//
// Fill it first; then any number of goroutines may use it. Versions may be in any case.
type Scheme struct {
	types       map[string]map[string]reflect.Type // version → kind → type
	conversions map[conversion]func(any) (any, error)
}

// conversion is the key of a registered function. Two versions may share their Go types.
type conversion struct {
	from, to string
	in       reflect.Type
}

// NewScheme returns an empty Scheme.
func NewScheme() *Scheme {
	return &Scheme{map[string]map[string]reflect.Type{}, map[conversion]func(any) (any, error){}}
}

// AddKnownTypes adds types to a version. Each obj is a zero struct; the name of its type is the kind.
func (s *Scheme) AddKnownTypes(version string, objs ...any) {
	version = strings.ToLower(version)
	if s.types[version] == nil {
		s.types[version] = map[string]reflect.Type{}
	}
	for _, obj := range objs {
		t := reflect.TypeOf(obj)
		s.types[version][t.Name()] = t
	}
}

// AddInternalConversion registers how Wire of a version becomes Internal.
func AddInternalConversion[Wire, Internal any](s *Scheme, version string, convert func(*Wire, *Internal) Mistakes) {
	addConversion(s, version, InternalVersion, convert)
}

// AddExternalConversion registers how Internal becomes Wire of a version.
func AddExternalConversion[Internal, Wire any](s *Scheme, version string, convert func(*Internal, *Wire)) {
	addConversion(s, InternalVersion, version, func(in *Internal, out *Wire) (none Mistakes) {
		convert(in, out)
		return none
	})
}

func addConversion[In, Out any](s *Scheme, from, to string, convert func(*In, *Out) Mistakes) {
	key := conversion{strings.ToLower(from), strings.ToLower(to), reflect.TypeFor[*In]()}
	s.conversions[key] = func(in any) (any, error) {
		out := new(Out)
		if errs := convert(in.(*In), out); len(errs) > 0 {
			return nil, errs
		}
		return out, nil
	}
}

// Versions returns the wire versions that have a kind, sorted.
func (s *Scheme) Versions(kind string) []string {
	versions := slices.Sorted(maps.Keys(s.types))
	return slices.DeleteFunc(versions, func(version string) bool { return s.types[version][kind] == nil })
}

// kinds returns every kind of any version.
func (s *Scheme) kinds() (kinds []string) {
	for _, types := range s.types {
		kinds = slices.AppendSeq(kinds, maps.Keys(types))
	}
	return kinds
}

// New returns a pointer to a zero value of a kind.
func (s *Scheme) New(version, kind string) (any, error) {
	t, ok := s.types[strings.ToLower(version)][kind]
	if !ok {
		return nil, fmt.Errorf("make %q of version %q: no such kind is registered", kind, version)
	}
	return reflect.New(t).Interface(), nil
}

// Internalize converts a pointer to a wire type to a pointer to the internal type. The two may share memory.
func (s *Scheme) Internalize(version string, obj any) (any, error) {
	return s.convert(version, InternalVersion, obj)
}

// Externalize converts a pointer to an internal type to a pointer to the wire type. The two may share memory.
func (s *Scheme) Externalize(version string, obj any) (any, error) {
	return s.convert(InternalVersion, version, obj)
}

func (s *Scheme) convert(from, to string, obj any) (any, error) {
	convert, ok := s.conversions[conversion{strings.ToLower(from), strings.ToLower(to), reflect.TypeOf(obj)}]
	if !ok {
		return nil, Mistakes{{Text: fmt.Sprintf("no conversion of %T from version %q to %q is registered", obj, from, to)}}
	}
	return convert(obj)
}

// Encode writes the object of an internal type that obj points to as JSON of a wire version.
func (s *Scheme) Encode(version string, obj any) ([]byte, error) {
	wire, err := s.Externalize(version, obj)
	if err != nil {
		return nil, err
	}
	return json.Marshal(wire)
}

// EncodeYAML is Encode for people: YAML, as kubectl prints it. Older readers of YAML, for which 010 is 8 and yes is true, get
// the same strings.
func (s *Scheme) EncodeYAML(version string, obj any) ([]byte, error) {
	text, err := s.Encode(version, obj)
	if err != nil {
		return nil, err
	}
	return yaml.JSONToYAML(notInYAML.ReplaceAllFunc(text, escapeForYAML))
}
