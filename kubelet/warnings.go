package kubelet

import (
	"strings"

	"github.com/golang/glog"

	"kubelet14/api"
)

// warnNotActedOn says once for each form of a pod what its manifest asks for and
// this kubelet does not do.
func warnNotActedOn(pod *api.Pod) {
	var parts []string
	for _, c := range pod.Manifest.Containers {
		if c.LivenessProbe != nil {
			parts = append(parts, c.Name+".livenessProbe")
		}
		if c.Lifecycle != nil {
			parts = append(parts, c.Name+".lifecycle")
		}
		// Nothing is pulled, which is what PullNever asks for.
		if c.ImagePullPolicy != "" && c.ImagePullPolicy != api.PullNever {
			parts = append(parts, c.Name+".imagePullPolicy: "+string(c.ImagePullPolicy))
		}
	}
	if len(parts) > 0 {
		glog.Warningf("pod %s: not acted on by this version, which neither probes nor calls hooks nor pulls images: %s", pod, strings.Join(parts, ", "))
	}
}
