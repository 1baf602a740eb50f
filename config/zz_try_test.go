package config

import (
	"fmt"
	"os"
	"testing"

	"kubelet14/api/v1beta1"
	"kubelet14/api/validation"
)

func TestZZTry(t *testing.T) {
	data, _ := os.ReadFile(os.Getenv("TRY"))
	m, err := parseManifests(v1beta1.NewScheme(), validation.Rules{}, "pod.yaml", data)
	fmt.Printf("%+v\n%v\n", m, err)
}
