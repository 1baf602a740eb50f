package validation

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"kubelet14/api"
)

var configKey = regexp.MustCompile(`^[-._a-zA-Z0-9]{1,253}$`)

const wantKey = "use a-z, A-Z, 0-9, '-', '_' and '.', at most 253 characters, and not '..' at the beginning"

// isConfigKey reports whether a key can be the name of a file in a volume, beside the links that the kubelet needs there.
func isConfigKey(key string) bool {
	return configKey.MatchString(key) && key != "." && !strings.HasPrefix(key, "..")
}

// IsEnvName reports whether a v1 Pod may have a variable of this name.
func IsEnvName(name string) bool { return envName.MatchString(name) }

// validateConfigObject checks an object. It quotes no value, and of a Secret no key: a mistyped one may be a value.
func validateConfigObject(o *api.ConfigObject) (errs api.Mistakes) {
	c := checker{errs: &errs}
	c.check(IsDNSSubdomain(o.Name), invalid, "name", o.Name, wantSubdomain)
	c.check(o.Namespace == "" || IsDNSLabel(o.Namespace), invalid, "namespace", o.Namespace, wantLabel)
	for _, key := range slices.Sorted(maps.Keys(o.Data)) {
		ok := isConfigKey(key)
		if o.Kind == api.KindSecret && key != "" {
			key = "(hidden)"
		}
		c.check(ok, invalid, "data", key, "this is no key: "+wantKey)
	}
	size := o.Data.Size()
	c.check(size <= api.MaxObjectBytes, invalid, "data", size, "this is the number of bytes, and 1048576 (1 MiB) is the limit")
	return errs
}

// object checks the name of an object that a pod refers to.
func (c checker) object(name string) {
	c.check(IsDNSSubdomain(name), invalid, "name", name, wantSubdomain)
}

func (c checker) key(key string) { c.check(isConfigKey(key), invalid, "key", key, wantKey) }

// validateEnvSources checks where the variables of a container come from.
func validateEnvSources(c checker, in *api.Container) {
	for i, from := range in.EnvFrom {
		c := c.in("envFrom[%d]", i)
		c.check(from.Prefix == "" || IsEnvName(from.Prefix), invalid, "prefix", from.Prefix, "use A-Z, a-z, 0-9, '_', '-' and '.', and no digit first")
		c.oneField("", from, false, "exactly one of configMapRef and secretRef is required")
		if from.ConfigMapRef != nil {
			c.in("configMapRef").object(from.ConfigMapRef.Name)
		}
		if from.SecretRef != nil {
			c.in("secretRef").object(from.SecretRef.Name)
		}
	}
	for i, e := range in.Env {
		c := c.in("env[%d]", i)
		if e.FieldPath != "" {
			c.field("fieldPath", e.FieldPath, fieldPaths)
		}
		if e.ResourceRef != nil {
			c.in("resourceRef").resource(in.Name, e.ResourceRef)
		}
		for field, ref := range map[string]*api.KeyRef{"configMapKey": e.ConfigMapKey, "secretKey": e.SecretKey} {
			if ref != nil {
				c.in("%s", field).object(ref.Name)
				c.in("%s", field).key(ref.Key)
			}
		}
	}
}

// validateFiles checks a volume whose files the kubelet makes.
func validateFiles(c checker, source *api.VolumeSource) {
	if f := source.ConfigMap; f != nil {
		c.in("configMap").objectFiles(f)
	}
	if f := source.Secret; f != nil {
		c.check(IsDNSSubdomain(f.Name), invalid, "secret.secretName", f.Name, wantSubdomain)
		c.in("secret").keyPaths(f.Items, f.DefaultMode)
	}
	if f := source.DownwardAPI; f != nil {
		c.in("downwardAPI").fieldFiles(f)
	}
	if source.Projected == nil {
		return
	}
	c = c.in("projected")
	c.mode("defaultMode", source.Projected.DefaultMode)
	for i, p := range source.Projected.Sources {
		c := c.in("sources[%d]", i)
		c.oneField("", p, false, "exactly one of configMap, secret and downwardAPI is required")
		files := map[string]*api.ObjectFiles{"configMap": p.ConfigMap, "secret": p.Secret}
		for _, field := range slices.Sorted(maps.Keys(files)) {
			if f := files[field]; f != nil {
				c.in("%s", field).objectFiles(f)
				c.in("%s", field).check(f.DefaultMode == nil, forbidden, "defaultMode", *cmp.Or(f.DefaultMode, new(api.FileMode)),
					"write that of the volume, which is for all")
			}
		}
		if p.DownwardAPI != nil {
			c.in("downwardAPI").fieldFiles(p.DownwardAPI)
		}
	}
}

func (c checker) objectFiles(f *api.ObjectFiles) {
	c.object(f.Name)
	c.keyPaths(f.Items, f.DefaultMode)
}

func (c checker) keyPaths(items []api.KeyPath, defaultMode *api.FileMode) {
	c.mode("defaultMode", defaultMode)
	paths := names{}
	for i, item := range items {
		c := c.in("items[%d]", i)
		c.key(item.Key)
		c.filePath(item.Path, paths)
		c.mode("mode", item.Mode)
	}
}

// volumeFields are the fields of a pod that a file can have.
var volumeFields = []string{api.FieldName, api.FieldNamespace, api.FieldUID, api.FieldLabels, api.FieldAnnotations}

func (c checker) fieldFiles(f *api.FieldFiles) {
	c.mode("defaultMode", f.DefaultMode)
	paths := names{}
	for i, item := range f.Items {
		c := c.in("items[%d]", i)
		c.check(item.FieldRef == nil || item.ResourceRef == nil, invalid, "resourceFieldRef", cmp.Or(item.ResourceRef, &api.ResourceRef{}).Resource, "there is a fieldRef too: keep one of them")
		if item.ResourceRef != nil {
			c.in("resourceFieldRef").resource("", item.ResourceRef)
		} else {
			c.field("fieldRef.fieldPath", cmp.Or(item.FieldRef, &api.FieldRef{}).FieldPath, volumeFields)
		}
		c.filePath(item.Path, paths)
		c.mode("mode", item.Mode)
	}
}

// field checks the path of a field of the pod.
func (c checker) field(field, path string, known []string) {
	_, key := api.SplitField(path)
	c.check(slices.Contains(known, path) || key != "", unsupported, field, path,
		"use one of "+strings.Join(known, " ")+" metadata.labels['KEY'] metadata.annotations['KEY']")
}

// resource checks a reference to a limit or request of a container, which is the one with the name of if it names none.
func (c checker) resource(of string, ref *api.ResourceRef) {
	units, known := api.ResourceUnits[ref.Resource]
	c.check(known, unsupported, "resource", ref.Resource, "use limits.cpu, limits.memory, requests.cpu or requests.memory")
	name := cmp.Or(ref.Container, of)
	c.check(c.containers[name], notFound, "containerName", name, "write the name of a container of this pod")
	n, err := api.ParseQuantity(cmp.Or(string(ref.Divisor), "0"), units)
	c.check(err == nil && n >= 0, invalid, "divisor", ref.Divisor, "use a quantity such as 1Mi, or 1m for thousandths of a core")
}

func (c checker) mode(field string, mode *api.FileMode) {
	m := *cmp.Or(mode, new(api.FileMode))
	c.check(m >= 0 && m <= 0o777, invalid, field, m, "use 0 to 0777 (511)")
}

// filePath checks the path of a file in a volume.
func (c checker) filePath(file string, taken names) {
	c.relative("path", file)
	c.check(!taken[path.Clean(file)], duplicate, "path", file, "another item has this path")
	taken[path.Clean(file)] = true
}

// relative checks that a path stays below the directory that it is in.
func (c checker) relative(field, file string) {
	parts := strings.Split(file, "/")
	ok := file != "" && len(file) <= 4096 && !strings.HasPrefix(file, "/") && !strings.Contains(file, "\x00") && path.Clean(file) != "." &&
		!slices.ContainsFunc(parts, func(part string) bool { return len(part) > 255 })
	c.check(ok && !strings.HasPrefix(file, "..") && !slices.Contains(parts, ".."), invalid, field, file, "use a relative path without '..'")
}

// subPath checks a mount of a part of a volume. Volumes of one claim are one volume. An init container has ended when a container
// with parts is created.
func (c checker) subPath(mount *api.VolumeMount, m *api.ContainerManifest) {
	volume := m.Mounted(mount)
	if mount.SubPath == "" || volume == nil {
		return
	}
	c.relative("subPath", mount.SubPath)
	c.check(mount.ReadOnly || volume.Source == nil || volume.Source.HostDir == nil, forbidden, "subPath", mount.SubPath, "write it in the path of the hostPath, or mount it readOnly")
	claim := volume.ClaimName()
	writer := m.WriterAbove(mount.SubPath, m.Staying(), func(v *api.Volume) bool {
		return v.Name == volume.Name || claim != "" && v.ClaimName() == claim
	})
	c.check(writer == "", forbidden, "subPath", mount.SubPath, fmt.Sprintf("container %q can write to a directory above it, and could put a link to any file of the host there "+
		"(CVE-2017-1002101, CVE-2021-25741): let it mount other parts of the volume, or mount it readOnly", writer))
}
