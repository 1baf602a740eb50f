package images

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"kubelet14/api"
	"kubelet14/kubelet/dockertools"
	"kubelet14/kubelet/plan"
)

// CheckUser returns a problem if a container must not run as root and its image's user is root, or may be.
func CheckUser(ctx context.Context, docker dockertools.Interface, c *api.Container) error {
	if c == nil || c.SecurityContext == nil || !c.SecurityContext.NonRoot || c.SecurityContext.RunAsUser != nil {
		return nil
	}
	_, user, err := docker.InspectImage(ctx, c.Image)
	if err != nil {
		return err
	}
	name, _, _ := strings.Cut(user, ":")
	if id, err := strconv.Atoi(cmp.Or(name, "0")); err == nil && id != 0 {
		return nil
	}
	return plan.Problem{Reason: api.ReasonConfig, Message: fmt.Sprintf(
		"cannot be created: it has runAsNonRoot, and the user of image %q is %q: write a runAsUser that is not 0", c.Image, cmp.Or(user, "root"))}
}
