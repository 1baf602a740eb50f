package api

// BoundPods are the pods that a kubelet is to run: those that are bound to its host,
// in the words of 2014.
type BoundPods struct {
	Items []Pod
}

// PodInfo says of each container of a pod, by its name, what has become of it.
type PodInfo map[string]ContainerStatus
