package api

// otherKind says what to do with an object that is no Pod.
func otherKind(kind string) string {
	instead := "remove it"
	if kind == "" || Nearest(kind, []string{"Pod"}) != "" {
		return "unsupported value '" + kind + `': write "kind: Pod"`
	}
	switch kind {
	case "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "ReplicationController", "Job":
		instead = "run its template as a Pod: the spec is that of spec.template"
	case "CronJob":
		instead = "run its template as a Pod from cron: with -cleanup, and then with -runonce"
	case "Service", "Ingress":
		instead = "pods find each other by name, and hostPort publishes a port; remove it"
	case "ConfigMap", "Secret":
		instead = "put the files into a directory of the host and use hostPath, or write the values in env"
	case "PersistentVolume", "PersistentVolumeClaim", "StorageClass":
		instead = "use a directory of the host, with hostPath"
	case "BoundPods":
		instead = "write its pods as a ContainerManifestList, or a List of Pods"
	case "Namespace":
		instead = "a namespace is in the metadata of its Pods and nowhere else; remove it"
	}
	return "this program runs Pods and no " + kind + ": " + instead
}
