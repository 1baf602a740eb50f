package config

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"kubelet14/config/etcdtest"
)

// putPods puts ten more pods through a member, again when the cluster has no leader
// for a moment, and returns what all pods are then.
func putPods(t *testing.T, s *etcdtest.Server, pods string) string {
	t.Helper()
	client := s.Client()
	deadline := time.Now().Add(time.Minute)
	for range 10 {
		name := fmt.Sprintf("pod%02d", len(strings.Fields(pods)))
		for {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			_, err := client.Put(ctx, etcdPods+name, manifest("", "1"))
			cancel()
			if err == nil {
				break
			}
			if time.Now().After(deadline) {
				t.Fatal(err)
			}
		}
		pods = strings.TrimSpace(pods + " " + name + "=1")
	}
	return pods
}

// awaitPods waits for pods, whatever is wrong meanwhile.
func (r *etcdRun) awaitPods(pods string) {
	r.t.Helper()
	r.awaitThat(fmt.Sprintf("%q", pods), func() bool { return show(r.last.Pods) == pods })
}

// One of the members is the leader, and one is the one that the source watches.
func TestEtcdMembersDieOneAfterTheOther(t *testing.T) {
	t.Parallel()
	cluster := etcdtest.StartCluster(t, 3)
	r := runEtcd(t, cluster.Endpoints()...)
	pods := putPods(t, cluster[0], "")
	r.awaitPods(pods)
	for i, member := range cluster {
		other := cluster[(i+1)%3]
		pods = putPods(t, other, pods)
		member.Kill()
		pods = putPods(t, other, pods)
		r.awaitPods(pods)
		member.Restart()
	}
	pods = putPods(t, cluster[0], pods)
	r.await(pods)
}

// A member that has lost the others answers as always, and hears of no change. The
// source does not list the keys here, so it knows that by its watch.
func TestEtcdMemberThatHasLostItsLeader(t *testing.T) {
	t.Parallel()
	cluster := etcdtest.StartCluster(t, 3)
	pods := putPods(t, cluster[0], "")
	r := runEtcd(t, cluster[0].Endpoint())
	r.await(pods)
	cluster[1].Kill()
	cluster[2].Kill()
	r.await(pods, "leader")
	cluster[1].Restart()
	pods = putPods(t, cluster[1], pods)
	r.await(pods)
}

func TestEtcdMemberThatCannotBeHeard(t *testing.T) {
	t.Parallel()
	cluster := etcdtest.StartCluster(t, 3)
	var ways []*etcdtest.Proxy
	var endpoints []string
	for _, s := range cluster {
		way := etcdtest.NewProxy(t, s)
		ways, endpoints = append(ways, way), append(endpoints, way.Endpoint())
	}
	r := pollEtcd(t, endpoints...)
	pods := putPods(t, cluster[0], "")
	r.await(pods)
	for _, way := range ways {
		way.Hang()
		pods = putPods(t, cluster[0], pods)
		r.awaitPods(pods)
		way.Mend()
	}
	pods = putPods(t, cluster[0], pods)
	r.await(pods)
}
