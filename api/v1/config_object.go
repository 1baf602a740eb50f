package v1

import (
	"encoding/base64"
	"maps"
	"slices"

	"kubelet14/api"
)

// ConfigMap is values that are no secret: text, and bytes in base64.
type ConfigMap struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Metadata   Metadata          `json:"metadata"`
	Data       map[string]string `json:"data,omitempty"`
	BinaryData map[string]string `json:"binaryData,omitempty"`

	_ api.Ignored `fields:"immutable"`
}

// Secret is values that nothing shows: bytes in base64, and text, which comes first.
type Secret struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Metadata   Metadata          `json:"metadata"`
	Data       map[string]string `json:"data,omitempty"`
	StringData map[string]string `json:"stringData,omitempty"`

	_ api.Ignored `fields:"immutable type"`
}

// addConfigObjects lets a scheme decode both, and write ConfigMaps.
func addConfigObjects(s *api.Scheme) {
	s.AddKnownTypes(api.VersionV1, ConfigMap{}, Secret{})
	api.AddInternalConversion(s, api.VersionV1, func(in *ConfigMap, out *api.ConfigObject) (errs api.Mistakes) {
		out.Kind, out.Name, out.Namespace = api.KindConfigMap, in.Metadata.ID, in.Metadata.Namespace
		out.Data = api.Values{}
		decode(&errs, "binaryData", in.BinaryData, out.Data)
		for key, value := range in.Data {
			if _, binary := in.BinaryData[key]; binary {
				errs.Add("data."+key, "it is in binaryData too: keep one of them")
			}
			out.Data[key] = []byte(value)
		}
		return errs
	})
	api.AddInternalConversion(s, api.VersionV1, func(in *Secret, out *api.ConfigObject) (errs api.Mistakes) {
		out.Kind, out.Name, out.Namespace = api.KindSecret, in.Metadata.ID, in.Metadata.Namespace
		out.Data = api.Values{}
		decode(&errs, "data", in.Data, out.Data)
		for key, value := range in.StringData {
			out.Data[key] = []byte(value)
		}
		return errs
	})
	api.AddExternalConversion(s, api.VersionV1, func(in *api.ConfigObject, out *ConfigMap) {
		out.APIVersion, out.Kind = api.VersionV1, in.Kind
		out.Metadata = Metadata{ID: in.Name, Namespace: in.Namespace}
		out.Data, out.BinaryData = map[string]string{}, map[string]string{}
		for key, value := range in.Data {
			if api.IsText(value) {
				out.Data[key] = string(value)
			} else {
				out.BinaryData[key] = base64.StdEncoding.EncodeToString(value)
			}
		}
	})
}

// decode adds values in base64. The errors quote none.
func decode(errs *api.Mistakes, field string, in map[string]string, out api.Values) {
	for _, key := range slices.Sorted(maps.Keys(in)) {
		value, err := base64.StdEncoding.DecodeString(in[key])
		if err != nil {
			errs.Add(field+"."+key, "this is not base64: a text itself is written in %s", map[string]string{"data": "stringData", "binaryData": "data"}[field])
		}
		out[key] = value
	}
}

// FieldPath translates the path of a field of api.ConfigObject to its path in a ConfigMap.
func (*ConfigMap) FieldPath(internal string) string { return objectPath(internal, "") }

// FieldPath translates the path of a field of api.ConfigObject to its path in a Secret.
func (*Secret) FieldPath(internal string) string { return objectPath(internal, "") }

// objectPath returns the path of a field of an object whose fields, but for its name, are below a path.
func objectPath(internal, below string) string {
	if internal == "name" || internal == "namespace" {
		return "metadata." + internal
	}
	return below + internal
}
