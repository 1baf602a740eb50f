package api_test

import (
	"encoding/json"
	"testing"

	"kubelet14/api"
	"kubelet14/api/v1beta1"
)

func TestIntOrStringIsReadAndWrittenAsItWas(t *testing.T) {
	scheme := v1beta1.NewScheme()
	for text, want := range map[string]api.IntOrString{
		`123`:   {Int: 123},
		`"123"`: {Str: "123"},
		`"web"`: {Str: "web"},
	} {
		var fromJSON api.IntOrString
		if err := json.Unmarshal([]byte(text), &fromJSON); err != nil || fromJSON != want {
			t.Errorf("JSON %s: %#v, %v", text, fromJSON, err)
		}
		if back, err := json.Marshal(want); err != nil || string(back) != text {
			t.Errorf("%#v as JSON: %s, %v", want, back, err)
		}
		docs, err := scheme.Decode("text", []byte("version: v1beta1\ncontainers:\n- livenessProbe: {tcpSocket: {port: "+text+"}}\n"))
		if err != nil {
			t.Errorf("YAML %s: %v", text, err)
			continue
		}
		if got := docs[0].Manifest.Containers[0].LivenessProbe.TCPSocket.Port; got != want {
			t.Errorf("YAML %s: %#v", text, got)
		}
	}
}
