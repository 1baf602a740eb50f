package envvars

import (
	"fmt"
	"testing"

	"kubelet14/api"
)

func TestFromServices(t *testing.T) {
	got := ""
	for _, env := range FromServices([]api.Service{
		{Name: "my-db", Ports: []api.Port{{Name: "sql-1", ContainerPort: 5432, Protocol: "TCP"}, {ContainerPort: 53, Protocol: "UDP"}}}, {Name: "none"},
	}) {
		got += fmt.Sprintf("%s=%s\n", env.Name, env.Value)
	}
	if want := `MY_DB_SERVICE_HOST=my-db
MY_DB_SERVICE_PORT=5432
MY_DB_PORT=tcp://my-db:5432
MY_DB_SERVICE_PORT_SQL_1=5432
MY_DB_PORT_5432_TCP=tcp://my-db:5432
MY_DB_PORT_5432_TCP_PROTO=tcp
MY_DB_PORT_5432_TCP_PORT=5432
MY_DB_PORT_5432_TCP_ADDR=my-db
MY_DB_PORT_53_UDP=udp://my-db:53
MY_DB_PORT_53_UDP_PROTO=udp
MY_DB_PORT_53_UDP_PORT=53
MY_DB_PORT_53_UDP_ADDR=my-db
NONE_SERVICE_HOST=none
`; got != want {
		t.Errorf("the variables are\n%s, want\n%s", got, want)
	}
}
