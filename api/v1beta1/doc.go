// Package v1beta1 is the wire format of 2014: the types a manifest is written
// in, and their conversion to and from the internal types of package api.
//
// The wire types differ from the internal ones in what is old and in what is not
// supported:
//
//	env[].key                 is the first name of env[].name
//	volumeMounts[].path       is the first name of volumeMounts[].mountPath
//	volumeMounts[].mountType  HOST: the volume is the host's directory of the same
//	                          path as the mount's; LOCAL: any other volume
//	source.persistentDisk     can be read, so that it can be refused by its name
//	source.gitRepo            and not as a misspelling
//
// What never differed is the internal type itself. Should such a type have to
// change inside, its old form is copied here first, and gets a conversion.
// Version v1beta2 is these types too, with the old names refused.
//
// What is told of pods, BoundPods and PodInfo, has wire types too, and no way in.
//
// NewScheme is the only way in, and safe for any number of goroutines. What must
// hold: internal → wire → internal loses nothing, for every field there is.
package v1beta1
