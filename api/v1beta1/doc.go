// Package v1beta1 has the wire types of 2014, and their conversions to and from the internal types of package api. They
// differ in old names:
//
//	env[].key                 first name of env[].name
//	volumeMounts[].path       first name of volumeMounts[].mountPath
//	volumeMounts[].mountType  HOST: the volume is the host's directory of the mount's path; LOCAL: any other volume
//
// v1beta2 has the same types and refuses the old names. A type that has no difference is the internal type itself; before
// that one changes, copy its old form here and write a conversion. A round trip from internal to wire and back loses no
// field.
package v1beta1
