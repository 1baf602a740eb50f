package v1beta1

import "kubelet14/api"

// The wire versions, in the spelling that a converted manifest carries.
const (
	Version  = "v1beta1"
	Version2 = "v1beta2"
)

// NewScheme makes a Scheme of the internal types, v1beta1 and v1beta2.
func NewScheme() *api.Scheme {
	s := api.NewScheme()
	s.AddKnownTypes(api.InternalVersion, api.ContainerManifest{}, api.ContainerManifestList{})
	register(s, Version)
	register(s, Version2)
	return s
}

func register(s *api.Scheme, version string) {
	s.AddKnownTypes(version, ContainerManifest{}, ContainerManifestList{})

	api.AddInternalConversion(s, version, func(in *ContainerManifest, out *api.ContainerManifest) error {
		r := reader{version: version}
		*out = r.manifest("", in)
		return r.err()
	})
	api.AddInternalConversion(s, version, func(in *ContainerManifestList, out *api.ContainerManifestList) error {
		r := reader{version: version}
		for i := range in.Items {
			out.Items = append(out.Items, r.manifest(item("items", i)+".", &in.Items[i]))
		}
		return r.err()
	})

	api.AddExternalConversion(s, version, func(in *api.ContainerManifest, out *ContainerManifest) error {
		*out = writeManifest(version, in)
		return nil
	})
	api.AddExternalConversion(s, version, func(in *api.ContainerManifestList, out *ContainerManifestList) error {
		*out = ContainerManifestList{Kind: "ContainerManifestList", APIVersion: version}
		for i := range in.Items {
			out.Items = append(out.Items, writeManifest(version, &in.Items[i]))
		}
		return nil
	})
}
