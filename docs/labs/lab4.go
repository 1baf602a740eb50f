package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"strings"
)

// group returns the manifest of a pod with two containers. The server shows the files of a volume, and
// the writer writes there what the server answers.
func group(id string, port, server, writer int) string {
	return fmt.Sprintf(`{
  "version": "v1beta1",
  "id": %q,
  "containers": [
    {
      "name": "server",
      "image": %[2]q,
      "command": ["/hello", "serve", "-port", "80", "-show", "/data"],
      "env": [{"name": "VERSION", "value": "%[4]d"}],
      "ports": [{"containerPort": 80, "hostPort": %[3]d}],
      "volumeMounts": [{"name": "data", "mountPath": "/data"}]
    },
    {
      "name": "writer",
      "image": %[2]q,
      "command": ["/hello", "write", "-ask", "http://localhost/healthz", "/data/lines"],
      "env": [{"name": "VERSION", "value": "%[5]d"}],
      "volumeMounts": [{"name": "data", "mountPath": "/data"}]
    }
  ],
  "volumes": [{"name": "data", "source": {"emptyDir": {}}}]
}
`, id, helloImage, port, server, writer)
}

// keepsake is what the check writes into the volume of a pod.
const keepsake = "a keepsake of the check"

// lab4 checks that the containers of a pod share a network and a directory.
func lab4(c *check) {
	c.proxy.check = c.noDoubles
	port, otherPort, newPort := c.freePort(), c.freePort(), c.freePort()
	c.do(fmt.Sprintf("writes web.json and other.json, each with two containers, a volume and a port (%d and %d); starts your program", port, otherPort),
		"the container PREFIX_POD_net… has the network and the ports; the others join it: --network container:…")
	c.write("web", group("web", port, 1, 1))
	c.write("other", group("other", otherPort, 1, 1))
	c.start()
	for id, port := range map[string]int{"web": port, "other": otherPort} {
		c.await(id+" has a network container, a server and a writer, which have joined it", func() error { return c.whole(id, 1, 1) })
		c.await(id+" answers at its port, and its writer reaches its server at localhost", func() error { return answers(port, id, "") })
	}

	c.do("writes a file into the volume of web", "a named volume of Docker, with the pod in its name: all containers of the pod mount it")
	server, net, writer := c.current("web", "server"), c.current("web", "net"), c.current("web", "writer")
	c.exec(server, "/hello", "say", "/data/keepsake", keepsake)
	c.await("web shows it", func() error { return answers(port, "web", keepsake) })
	c.see("other does not show it", func() error { return c.hasNoKeepsake(otherPort) })

	c.do("kills the writer of web", "the volume outlives a container, and the others of its pod do not notice")
	c.killContainer(writer)
	c.await("web is whole", func() error { return c.whole("web", 1, 1) })
	c.await("web answers, and still has the file", func() error { return answers(port, "web", keepsake) })
	c.see("its network container and its server are the same", func() error { return errors.Join(c.same(net), c.same(server)) })

	c.do("edits the writer of web: VERSION=2", "only the hash of that container changes")
	c.write("web", group("web", port, 1, 2))
	c.await("web is whole, with VERSION=2 in its writer", func() error { return c.whole("web", 1, 2) })
	c.see("its network container and its server are the same", func() error { return errors.Join(c.same(net), c.same(server)) })

	server, net, writer = c.current("web", "server"), c.current("web", "net"), c.current("web", "writer")
	c.do("removes the network container of web, as docker rm --force does",
		"trap 1: the next one may have the same name; what the others joined has another id (HostConfig.NetworkMode)")
	c.must(c.engine.remove(c.ctx, "/containers/"+net.ID+"?force=1"))
	c.await("web has another network container, server and writer", func() error {
		return errors.Join(c.replaced(net), c.replaced(server), c.replaced(writer))
	})
	c.await("web is whole", func() error { return c.whole("web", 1, 2) })
	c.await("web answers, and still has the file", func() error { return answers(port, "web", keepsake) })

	c.do("kills the network container of web", "trap 1: started again, it has a new network, and the others are still in the old one: they are replaced too")
	net = c.current("web", "net")
	c.killContainer(net)
	c.await("web has another network container", func() error { return c.replaced(net) })
	c.await("web is whole", func() error { return c.whole("web", 1, 2) })
	c.await("web answers, and still has the file", func() error { return answers(port, "web", keepsake) })

	c.do(fmt.Sprintf("edits web.json: the port is %d", newPort), "trap 2: a port belongs to the network container, so its hash must contain the ports of all containers")
	c.write("web", group("web", newPort, 1, 2))
	c.await("web answers at the new port, and still has the file", func() error { return answers(newPort, "web", keepsake) })
	c.await("web is whole", func() error { return c.whole("web", 1, 2) })

	volumes := c.current("web", "server").Mounts
	c.do("removes web.json", "the volume does not outlive its pod")
	c.remove("web")
	c.await("no container of web is left", func() error { return c.gone("web") })
	c.await("no volume of web is left", func() error { return c.noneOf(volumes) })
	c.do("writes web.json again", "an empty directory is empty at first")
	c.write("web", group("web", port, 1, 1))
	c.await("web answers", func() error { return answers(port, "web", "") })
	c.see("it does not show the file", func() error { return c.hasNoKeepsake(port) })
	c.see("other is whole", func() error { return c.whole("other", 1, 1) })
	c.stop()
}

// freePort returns a port at which nobody listens.
func (c *check) freePort() int {
	l, err := net.Listen("tcp", ":0")
	c.must(err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// answers returns an error unless the page of a pod says that its writer reaches its server, and has some words.
func answers(port int, id, words string) error {
	page, err := get(port)
	for _, want := range []string{"Hello from pod " + id + ".", "GET http://localhost/healthz answers 200 OK", words} {
		if err == nil && !strings.Contains(page, want) {
			err = fmt.Errorf("http://127.0.0.1:%d/ does not say %q, but %q", port, want, page)
		}
	}
	return err
}

func get(port int) (string, error) {
	resp, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/", port))
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	return string(page), err
}

func (c *check) hasNoKeepsake(port int) error {
	page, err := get(port)
	if err == nil && strings.Contains(page, keepsake) {
		err = fmt.Errorf("http://127.0.0.1:%d/ says %q", port, page)
	}
	return err
}

// whole returns an error unless a pod of group has one network container, which its others have joined, and nothing else.
func (c *check) whole(id string, server, writer int) error {
	netc, err := c.one(id, "net", 0)
	if err != nil {
		return err
	}
	for of, version := range map[string]int{"server": server, "writer": writer} {
		one, err := c.one(id, of, version)
		if err != nil {
			return err
		}
		joined, isJoined := strings.CutPrefix(one.HostConfig.NetworkMode, "container:")
		if !isJoined || joined != netc.ID && joined != netc.Name {
			return fmt.Errorf("%s has the network %q, and the network container is %s, %s", one.Name, one.HostConfig.NetworkMode, netc.Name, netc.ID)
		}
		for _, m := range one.Mounts {
			if m.Type == "volume" && !strings.HasPrefix(m.Name, c.prefix+"_"+id+"_") {
				return fmt.Errorf("%s has the volume %q, whose name should begin with %s_%s_", one.Name, m.Name, c.prefix, id)
			}
		}
	}
	all, err := c.ofPod(id, "")
	if err == nil && len(all) > 3 {
		err = fmt.Errorf("there are more than three: %v", all)
	}
	return err
}

// replaced returns an error unless one container other than an old one runs.
func (c *check) replaced(old container) error {
	now, err := c.one(old.pod, old.of, 0)
	if err == nil && now.ID == old.ID {
		err = fmt.Errorf("%s has been started again, or has not ended", old.Name)
	}
	return err
}

// exec runs a command in a container.
func (c *check) exec(one container, command ...string) {
	var made struct {
		ID string `json:"Id"`
	}
	c.must(c.engine.call(c.ctx, http.MethodPost, "/containers/"+one.ID+"/exec", map[string]any{"Cmd": command}, &made))
	c.must(c.engine.call(c.ctx, http.MethodPost, "/exec/"+made.ID+"/start", map[string]any{"Detach": true}, nil))
}

// noneOf returns an error if a volume is still there.
func (c *check) noneOf(volumes []mount) error {
	for _, m := range volumes {
		if m.Type != "volume" {
			if _, err := os.Stat(m.Source); !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("the directory %s is still there", m.Source)
			}
			continue
		}
		err := c.engine.call(c.ctx, http.MethodGet, "/volumes/"+m.Name, nil, nil)
		if !errors.Is(err, errNotFound) {
			return cmp.Or(err, fmt.Errorf("the volume %s is still there", m.Name))
		}
	}
	return nil
}
