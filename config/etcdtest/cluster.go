package etcdtest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"kubelet14/api/unittest"
)

// Cluster is a cluster of several servers. Each of them can be killed, restarted and
// so on.
type Cluster []*Server

// Settings are what a cluster can have that those of most tests do not have.
type Settings struct {
	Members int
	// Certificates makes it speak TLS, and refuse a client without a certificate.
	Certificates bool
	// Defaults is for measurements: etcd syncs its data to the disk, hashes passwords as
	// slowly as it does by default, and takes its usual time for an election.
	Defaults bool
}

// StartCluster starts a cluster of as many members and returns when all answer.
func StartCluster(tb testing.TB, size int) Cluster {
	tb.Helper()
	return Settings{Members: size}.Start(tb)
}

// Start starts a cluster and returns when all of its members answer.
func (s Settings) Start(tb testing.TB) Cluster {
	tb.Helper()
	scheme, files := "http", (*TLS)(nil)
	if s.Certificates {
		scheme, files = "https", newTLS(tb)
	}
	var cluster Cluster
	var members []string
	for i := range s.Members {
		server := newServer(tb, scheme, fmt.Sprintf("etcd%d", i))
		server.TLS, server.clientCerts, server.defaults = files, s.Certificates, s.Defaults
		cluster = append(cluster, server)
		members = append(members, server.name+"="+server.peer)
	}
	for _, server := range cluster {
		server.members = strings.Join(members, ",")
		server.launch()
	}
	cluster.AwaitHealth()
	return cluster
}

// AwaitHealth waits until every member answers.
func (c Cluster) AwaitHealth() {
	c[0].tb.Helper()
	for _, s := range c {
		s.AwaitHealth()
	}
}

// Restart starts members that were killed, at the same time, and waits until they answer.
func (c Cluster) Restart() {
	c[0].tb.Helper()
	for _, s := range c {
		s.launch()
	}
	c.AwaitHealth()
}

// Kill ends all members.
func (c Cluster) Kill() {
	for _, s := range c {
		s.Kill()
	}
}

// Endpoints returns the URLs of the members.
func (c Cluster) Endpoints() (urls []string) {
	for _, s := range c {
		urls = append(urls, s.Endpoint())
	}
	return urls
}

// ClientFile returns a configuration of the client in its own YAML format, for a host of EnableUsers.
func (c Cluster) ClientFile(host string) string {
	c[0].tb.Helper()
	text := "endpoints: [" + strings.Join(c.Endpoints(), ", ") + "]\n"
	switch {
	case c[0].clientCerts:
		cert, key := c[0].TLS.Client(host)
		text += fmt.Sprintf("cert-file: %s\nkey-file: %s\ntrusted-ca-file: %s\n", cert, key, c[0].TLS.CA)
	case c[0].auth:
		text += fmt.Sprintf("username: %s\npassword: %s\n", host, Password)
	}
	return text
}

// Leader waits until the members that were not killed have a leader, and returns it.
func (c Cluster) Leader() *Server {
	c[0].tb.Helper()
	for {
		for _, s := range c {
			select {
			case <-s.ended:
			default:
				if s.AwaitHealth(); s.metrics()["etcd_server_is_leader"] == 1 {
					return s
				}
			}
		}
	}
}

// Client returns a client of all members, root's when there are users. It is closed when the
// test ends.
func (c Cluster) Client() *clientv3.Client {
	c[0].tb.Helper()
	config := clientv3.Config{Endpoints: c.Endpoints(), TLS: c[0].TLS.config(), Logger: zap.NewNop(), DialTimeout: time.Minute}
	if c[0].auth {
		config.Username, config.Password = "root", Password
	}
	client, err := clientv3.New(config)
	unittest.Must(c[0].tb, err)
	c[0].tb.Cleanup(func() { client.Close() })
	return client
}

// EnableUsers makes the user root and one for each host, who may read the keys of that host and nothing
// else. Of a cluster that asks for certificates the common name in it is the user; otherwise
// the users have the password Password.
func (c Cluster) EnableUsers(hosts []string) {
	c[0].tb.Helper()
	client := c.Client()
	ctx := client.Ctx()
	var users errgroup.Group
	users.SetLimit(32)
	for _, host := range hosts {
		users.Go(func() error {
			keys := "/registry/hosts/" + host + "/kubelet"
			if _, err := client.RoleAdd(ctx, host); err != nil {
				return err
			}
			if _, err := client.RoleGrantPermission(ctx, host, keys, keys+"0", clientv3.PermissionType(clientv3.PermRead)); err != nil {
				return err
			}
			if _, err := client.UserAddWithOptions(ctx, host, Password, &clientv3.UserAddOptions{NoPassword: c[0].clientCerts}); err != nil {
				return err
			}
			_, err := client.UserGrantRole(ctx, host, host)
			return err
		})
	}
	unittest.Must(c[0].tb, users.Wait())
	c[0].Ctl("user", "add", "root:"+Password)
	c[0].Ctl("auth", "enable")
	for _, s := range c {
		s.auth = true
	}
}
