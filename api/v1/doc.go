// Package v1 has the wire types of today's Pods, and their conversions to and from the internal types of package api.
//
// The types are also the table of supported fields. A field of type api.Ignored is accepted but means nothing on a single
// host. A field of type api.Unsupported is refused, with advice what to do instead. Any other name is unknown.
package v1
