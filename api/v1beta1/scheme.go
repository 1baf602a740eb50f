package v1beta1

import "kubelet14/api"

// The wire versions, in the spelling that a converted manifest carries.
const (
	Version  = "v1beta1"
	Version2 = "v1beta2"
)

// NewScheme makes a Scheme of v1beta1 and v1beta2.
func NewScheme() *api.Scheme {
	s := api.NewScheme()
	register(s, Version)
	register(s, Version2)
	return s
}

func register(s *api.Scheme, version string) {
	s.AddKnownTypes(version, ContainerManifest{})
	registerInfo(s, version)

	api.AddInternalConversion(s, version, func(in *ContainerManifest, out *api.ContainerManifest) error {
		r := reader{version: version}
		*out = r.manifest(in)
		if len(r.errs) > 0 {
			return r.errs
		}
		return nil
	})

	// The way out can refuse nothing: the wire can say all that the internal types
	// can. The old names are never written.
	api.AddExternalConversion(s, version, func(in *api.ContainerManifest, out *ContainerManifest) error {
		api.Copy(out, in)
		out.Version = version
		return nil
	})
}
