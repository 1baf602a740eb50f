package words

import (
	"context"
	"flag"
	"io"
	"net/url"
	"os"
	"os/user"
)

// order returns a word that has the kubelet do something to a pod, and waits until it is done.
func order(word string) func(*flag.FlagSet) func(context.Context, *call) error {
	return func(*flag.FlagSet) func(context.Context, *call) error {
		return func(ctx context.Context, c *call) error {
			cl, pod, err := c.pod(ctx)
			if err != nil {
				return err
			}
			answer, err := cl.Order(ctx, "/"+word+"/"+pod.FullName(), url.Values{"by": {person()}})
			if err != nil {
				return err
			}
			_, err = io.WriteString(c.Out, answer)
			return err
		}
	}
}

// person returns the name of the user, also with sudo.
func person() string {
	name := os.Getenv("SUDO_USER")
	if u, err := user.Current(); name == "" && err == nil {
		name = u.Username
	}
	return name
}
