package dockertools

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"

	docker "github.com/fsouza/go-dockerclient"
)

// String and GoString hold no secret, so that none comes into a log.
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

// header is the Auth as Docker wants it with a pull.
func (a Auth) header() http.Header {
	if a == (Auth{}) {
		return nil
	}
	// Strings always marshal.
	text, _ := json.Marshal(docker.AuthConfiguration{
		Username: a.Username, Password: a.Password, IdentityToken: a.IdentityToken, ServerAddress: a.ServerAddress,
	})
	return http.Header{"X-Registry-Auth": {base64.URLEncoding.EncodeToString(text)}}
}
