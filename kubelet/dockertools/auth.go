package dockertools

import "fmt"

// String returns a description without the secret, so that none gets into a log.
func (a Auth) String() string {
	switch {
	case a == Auth{}:
		return "no credentials"
	case a.IdentityToken != "":
		return fmt.Sprintf("an identity token for %q", a.ServerAddress)
	}
	return fmt.Sprintf("user %q for %q", a.Username, a.ServerAddress)
}

// GoString is String: the verb %#v asks for it.
func (a Auth) GoString() string { return a.String() }
