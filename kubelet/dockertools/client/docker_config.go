package client

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"kubelet14/kubelet/dockertools"
)

// credentialsFile is the part of a config.json that is about credentials.
type credentialsFile struct {
	Auths       map[string]json.RawMessage `json:"auths"`       // by registry; decoded when it is asked for, so that a broken one harms no other
	CredsStore  string                     `json:"credsStore"`  // the helper of all registries but those of CredHelpers
	CredHelpers map[string]string          `json:"credHelpers"` // by registry; "" is none
}

// readDockerConfig reads a config.json or, in the form of 2014, a .dockercfg, which
// is the map of auths alone. No file is an empty one.
func readDockerConfig(path string) (*credentialsFile, error) {
	var config credentialsFile
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &config, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read credentials: %w", err)
	}
	err = json.Unmarshal(data, &config)
	if err == nil && config.Auths == nil && config.CredsStore == "" && config.CredHelpers == nil {
		err = json.Unmarshal(data, &config.Auths)
	}
	if err != nil {
		return nil, fmt.Errorf("read credentials in %q: %w", path, withoutWords(err, data))
	}
	return &config, nil
}

// decodeEntry reads one entry of auths. The zero Auth: it holds no credentials.
func decodeEntry(data []byte) (dockertools.Auth, error) {
	var entry struct {
		Username      string `json:"username"`
		Password      string `json:"password"`
		Auth          string `json:"auth"`
		IdentityToken string `json:"identitytoken"`
	}
	if err := json.Unmarshal(data, &entry); err != nil {
		return dockertools.Auth{}, withoutWords(err, data)
	}
	if entry.IdentityToken != "" {
		return dockertools.Auth{IdentityToken: entry.IdentityToken}, nil
	}
	if entry.Auth != "" {
		decoded, err := base64.StdEncoding.DecodeString(entry.Auth)
		if err != nil {
			return dockertools.Auth{}, errors.New("auth is not base64; `docker login` writes it anew")
		}
		var ok bool
		if entry.Username, entry.Password, ok = strings.Cut(string(decoded), ":"); !ok {
			return dockertools.Auth{}, errors.New("auth is not the base64 of user:password; `docker login` writes it anew")
		}
	}
	return passwordAuth(entry.Username, entry.Password)
}

// passwordAuth refuses half of it, which Docker would take for nothing at all.
func passwordAuth(username, password string) (dockertools.Auth, error) {
	switch {
	case username == "" && password != "":
		return dockertools.Auth{}, errors.New("a password without a user name")
	case username != "" && password == "":
		return dockertools.Auth{}, errors.New("a user name without a password")
	}
	return dockertools.Auth{Username: username, Password: password}, nil
}

// withoutWords tells what is wrong with a JSON text and quotes none of it: an
// error of the decoder can hold a piece of a secret.
func withoutWords(err error, data []byte) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		before := data[:max(syntax.Offset-1, 0)]
		line := 1 + bytes.Count(before, []byte("\n"))
		column := len(before) - bytes.LastIndexByte(before, '\n')
		return fmt.Errorf("not JSON at line %d, column %d", line, column)
	case errors.As(err, &kind):
		return fmt.Errorf("%s must not be of type %s", cmp.Or(kind.Field, "it"), kind.Value)
	}
	return errors.New("not JSON")
}
