package client

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kubelet14/kubelet/dockertools"
)

func TestAnEntryOfTheDockerConfig(t *testing.T) {
	for _, c := range []struct {
		entry string
		want  dockertools.Auth
	}{
		{`{}`, dockertools.Auth{}},
		{`null`, dockertools.Auth{}},
		{`{"email": "me@example.com"}`, dockertools.Auth{}},
		{`{"username": "me", "password": "pw", "email": "me@example.com"}`, dockertools.Auth{Username: "me", Password: "pw"}},
		{`{"auth": "bWU6cDp3"}`, dockertools.Auth{Username: "me", Password: "p:w"}},
		{`{"username": "other", "password": "other", "auth": "bWU6cDp3"}`, dockertools.Auth{Username: "me", Password: "p:w"}},
		{`{"auth": "bWU6", "identitytoken": "t"}`, dockertools.Auth{IdentityToken: "t"}},
	} {
		got, err := decodeEntry([]byte(c.entry))
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("%s: error %v, %s", c.entry, err, diff)
		}
	}
}

func TestABrokenEntryNamesItselfAndTheNextFileIsUsed(t *testing.T) {
	for entry, word := range map[string]string{
		`{"auth": "%%%"}`:                   "base64",
		`{"auth": "bWU"}`:                   "base64",
		`{"auth": "bWU="}`:                  "user:password",
		`{"auth": "bWU6"}`:                  "password",
		`{"username": "me"}`:                "password",
		`{"password": "pw"}`:                "user name",
		`{"username": "me", "password": 1}`: "password must not be of type number",
		`{"auth": ["bWU6cDp3"]}`:            "auth must not be of type array",
		`"bWU6cDp3"`:                        "must not be of type string",
		`{"auth": {"user": "bWU6cDp3"}}`:    "auth must not be of type object",
		`{"identitytoken": true}`:           "identitytoken must not be of type bool",
	} {
		k := newKeyring(t, `{"auths": {"bar.example.com/team": `+entry+`}}`, auths("bar.example.com"))
		auth, err := k.Lookup(t.Context(), "bar.example.com/team/app")
		if auth.Username != "bar.example.com" {
			t.Errorf("%s: got %v from the next file", entry, auth)
		}
		if err == nil || !strings.Contains(err.Error(), word) ||
			!strings.Contains(err.Error(), k.files[0]) || !strings.Contains(err.Error(), `"bar.example.com/team"`) {
			t.Errorf("%s: the error does not name file, entry and %q: %v", entry, word, err)
		}
	}
}

func TestABrokenEntryHarmsNoOtherRegistry(t *testing.T) {
	k := newKeyring(t, `{"auths": {"foo.example.com": "broken", "bar.example.com": {"username": "me", "password": "pw"}}}`, "")
	expectUser(t, k, "bar.example.com/a", "me")
}

func TestABrokenFileNamesTheFault(t *testing.T) {
	for content, fault := range map[string]string{
		" ":                         "not JSON at line 1, column 1",
		"{\n\t\"auths\": {},\n}":    "not JSON at line 3, column 1",
		`{} x`:                      "not JSON at line 1, column 4",
		`["a"]`:                     "must not be of type array",
		`{"auths": []}`:             "auths must not be of type array",
		`{"credsStore": 1}`:         "credsStore must not be of type number",
		`{"credHelpers": {"a": 1}}`: "credHelpers must not be of type number",
	} {
		k := newKeyring(t, content, "")
		_, err := k.Lookup(t.Context(), "bar.example.com/a")
		if err == nil || !strings.Contains(err.Error(), fault) || !strings.Contains(err.Error(), k.files[0]) {
			t.Errorf("%s: the error does not say %q and the file: %v", content, fault, err)
		}
	}
}

func TestTheOtherKeysOfAConfigAreNoRegistries(t *testing.T) {
	other := `"bar.example.com": {"username": "me", "password": "pw"}}`
	for _, config := range []string{`{"auths": {}, `, `{"credHelpers": {}, `, `{"credsStore": "", "auths": {"foo.example.com": {}}, `} {
		expectUser(t, newKeyring(t, config+other, ""), "bar.example.com/a", "")
	}
}
