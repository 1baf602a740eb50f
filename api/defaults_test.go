package api_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubelet14/api"
)

func TestSetDefaultsFillsWhatIsOpen(t *testing.T) {
	m := api.ContainerManifest{
		Volumes:    []api.Volume{{Name: "v"}},
		Containers: []api.Container{{Name: "c", Ports: []api.Port{{ContainerPort: 80}}}},
	}
	api.SetDefaults(&m)
	want := api.ContainerManifest{
		Volumes: []api.Volume{{Name: "v", Source: &api.VolumeSource{EmptyDir: &api.EmptyDir{}}}},
		Containers: []api.Container{{
			Name:                   "c",
			Ports:                  []api.Port{{ContainerPort: 80, Protocol: api.ProtocolTCP}},
			ImagePullPolicy:        api.PullIfNotPresent,
			TerminationMessagePath: "/dev/termination-log",
		}},
		RestartPolicy: api.RestartPolicy{Always: &api.RestartPolicyAlways{}},
	}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}

	again := m.Clone()
	api.SetDefaults(&again)
	if diff := cmp.Diff(m, again); diff != "" {
		t.Errorf("the second time changes (-first +second):\n%s", diff)
	}
}

func TestSetDefaultsLeavesWhatIsWritten(t *testing.T) {
	m := fullManifest(t)
	written := m.Clone()
	api.SetDefaults(&m)
	if diff := cmp.Diff(written, m); diff != "" {
		t.Errorf("-written +got:\n%s", diff)
	}
}
