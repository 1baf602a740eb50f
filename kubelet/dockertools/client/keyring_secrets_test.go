package client

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
)

func TestNoErrorHoldsASecret(t *testing.T) {
	const secret = "s3cr3t"
	encoded := base64.StdEncoding.EncodeToString([]byte(secret)) // without a colon
	helpers(t, map[string]string{
		"fails":    `echo '{"Username": "me", "Secret": "` + secret + `"}'; exit 1`,
		"whispers": `echo '{"Username": "me", "Secret": "` + secret + `"}' >&2; exit 1`,
		"cut":      `echo '{"Username": "me", "Secret": "` + secret + `'`,
		"bare":     `echo ` + secret,
		"number":   `echo '{"Username": 5, "Secret": "` + secret + `"}'`,
		"half":     `echo '{"Secret": "` + secret + `"}'`,
		"key":      `echo '{"` + secret + `"}'`,
	})
	entry := func(text string) string { return `{"auths": {"bar.example.com": ` + text + `}}` }
	for _, config := range []string{
		secret,
		`"` + secret + `"`,
		`{"auths": "` + secret + `"}`,
		`{"auths": {"bar.example.com": {"auth": "` + secret + `}}}`,
		`{"auths": {"bar.example.com": {"auth": ` + secret + `}}}`,
		`{"auths": {"bar.example.com": {"auth": "` + secret + `"`,
		`{"` + secret + `"}`,
		`{"credHelpers": {"` + secret + `": 1}}`,
		entry(`"` + secret + `"`),
		entry(`["` + secret + `"]`),
		entry(`{"auth": "` + secret + `%"}`),
		entry(`{"auth": "` + encoded + `"}`),
		entry(`{"auth": ["` + secret + `"]}`),
		entry(`{"username": 1, "password": "` + secret + `"}`),
		entry(`{"username": {"` + secret + `": 1}}`),
		entry(`{"password": "` + secret + `"}`),
		`{"credsStore": "fails"}`, `{"credsStore": "whispers"}`, `{"credsStore": "cut"}`, `{"credsStore": "bare"}`,
		`{"credsStore": "number"}`, `{"credsStore": "half"}`, `{"credsStore": "key"}`,
	} {
		_, err := newKeyring(t, config, config).Lookup(t.Context(), "bar.example.com/a")
		if err == nil {
			t.Errorf("%s: no error", config)
			continue
		}
		text := fmt.Sprintf("%v %+v %#v", err, err, err)
		// A single letter of it would show as the decoder's "invalid character 's'".
		if strings.Contains(text, secret) || strings.Contains(text, encoded) || strings.Contains(text, "'s'") {
			t.Errorf("%s: the error holds a secret: %s", config, text)
		}
	}
}
