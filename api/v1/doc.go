// Package v1 has the wire types of today's Pods, and their conversions to and from the internal types of package api.
//
// The types are the table of what is supported: a field of type api.Ignored is read and means nothing on one host, one of
// type api.Unsupported is refused with a sentence that says what to do instead, and any other name is unknown.
package v1
