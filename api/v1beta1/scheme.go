package v1beta1

import "kubelet14/api"

// The wire versions, as a converted manifest has them.
const (
	Version  = "v1beta1"
	Version2 = "v1beta2"
)

// NewScheme returns a Scheme of v1beta1 and v1beta2. Any number of goroutines may use it.
func NewScheme() *api.Scheme {
	s := api.NewScheme()
	for _, version := range []string{Version, Version2} {
		s.AddKnownTypes(version, ContainerManifest{})
		api.AddInternalConversion(s, version, func(in *ContainerManifest, out *api.ContainerManifest) error {
			r := reader{version: version}
			if r.manifest(in, out); len(r.errs) > 0 {
				return r.errs
			}
			return nil
		})
		// This never fails: the wire types have a field for every internal one. The old names are not written.
		api.AddExternalConversion(s, version, func(in *api.ContainerManifest, out *ContainerManifest) error {
			api.Copy(out, in)
			out.Version = version
			return nil
		})
		addInfo(s, version)
	}
	return s
}
