// Package token has what the info server and its client both know: the token in a file, and the keys that are made of it.
package token

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"regexp"
	"strings"

	"kubelet14/volume"
)

// InstanceHeader is in every answer: a client with the token makes the key of it.
const InstanceHeader = "Kubelet14-Instance"

// Key returns the key of one start of a kubelet, which its page has in all its links. It does not reveal the token. After the next
// start it is of no use, nor at another -address or port: somebody else may listen there, and may have asked the kubelet for the instance.
func Key(token, instance, address string, port int) string {
	if ip, err := netip.ParseAddr(address); err == nil { // which may be written in another way
		address = ip.Unmap().String()
	}
	mac := hmac.New(sha256.New, []byte(token))
	fmt.Fprintf(mac, "%s %s %d", instance, address, port)
	return fmt.Sprintf("%x", mac.Sum(nil)[:16])
}

// RunKey returns the proof of the token that a client sends to run commands and to stop pods, instead of the token. It is as
// useless elsewhere as a Key, and no page or link has it.
func RunKey(token, instance, address string, port int) string {
	return Key("run "+token, instance, address, port)
}

// Form is what RFC 6750 allows in a header, with a minimum length.
var Form = regexp.MustCompile(`^[A-Za-z0-9._~+/=-]{16,}$`)

// Read reads the token in a file, which only its owner may have access to.
func Read(path string) (string, error) {
	text := ""
	info, err := os.Stat(path)
	switch {
	case err != nil:
	case !info.Mode().IsRegular(): // reading a pipe might block
		err = fmt.Errorf("%s is not a regular file", path)
	case info.Mode().Perm()&0o077 != 0:
		err = fmt.Errorf("other users have access to %s: chmod 600 %[1]s", path)
	default:
		var data []byte
		data, err = os.ReadFile(path)
		text = strings.TrimSpace(string(data))
		if err == nil && !Form.MatchString(text) {
			err = fmt.Errorf("%s must hold one word of 16 characters or more, of letters, digits and -._~+/=: "+
				"`openssl rand -hex 32` makes one", path)
		}
	}
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	return text, nil
}

// Make reads the token in a file, or makes the file with a new token.
func Make(path string) (string, error) {
	if text, err := Read(path); !errors.Is(err, fs.ErrNotExist) {
		return text, err
	}
	if err := volume.WriteFile(path, []byte(rand.Text()+rand.Text()+"\n")); err != nil {
		return "", fmt.Errorf("make a token: %w", err)
	}
	return Read(path)
}
