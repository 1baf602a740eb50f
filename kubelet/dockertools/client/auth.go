package client

import (
	"encoding/base64"
	"encoding/json"
	"net/http"

	docker "github.com/fsouza/go-dockerclient"

	"kubelet14/kubelet/dockertools"
)

// authHeader is the Auth as Docker wants it with a pull.
func authHeader(a dockertools.Auth) http.Header {
	if a == (dockertools.Auth{}) {
		return nil
	}
	// Strings always marshal.
	text, _ := json.Marshal(docker.AuthConfiguration{
		Username: a.Username, Password: a.Password, IdentityToken: a.IdentityToken, ServerAddress: a.ServerAddress,
	})
	return http.Header{"X-Registry-Auth": {base64.URLEncoding.EncodeToString(text)}}
}
