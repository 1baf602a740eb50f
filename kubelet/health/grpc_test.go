package health

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"

	"kubelet14/api"
	"kubelet14/api/unittest"
)

// serveGRPC starts a gRPC server on 127.0.0.1.
func serveGRPC(t *testing.T, register func(*grpc.Server)) (port int) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	unittest.Must(t, err)
	server := grpc.NewServer()
	register(server)
	go server.Serve(listener)
	t.Cleanup(server.Stop)
	return listener.Addr().(*net.TCPAddr).Port
}

func TestGRPCProbe(t *testing.T) {
	states := health.NewServer()
	states.SetServingStatus("ready", grpc_health_v1.HealthCheckResponse_SERVING)
	states.SetServingStatus("busy", grpc_health_v1.HealthCheckResponse_NOT_SERVING)
	answers := serveGRPC(t, func(s *grpc.Server) { grpc_health_v1.RegisterHealthServer(s, states) })
	without := serveGRPC(t, func(*grpc.Server) {})
	for _, test := range []struct {
		port          int
		service, want string
	}{
		{answers, "", ""},
		{answers, "ready", ""},
		{answers, "busy", "unhealthy: gRPC to 127.0.0.1:PORT: NOT_SERVING"},
		{answers, "other", `unhealthy: gRPC to 127.0.0.1:PORT: its server does not know the service "other"`},
		{without, "", "unhealthy: gRPC to 127.0.0.1:PORT: its server has no service grpc.health.v1.Health"},
		{closedPort, "", "unhealthy: gRPC to 127.0.0.1:PORT: connection refused"},
	} {
		err := Probe(t.Context(), &api.Probe{GRPC: &api.GRPCAction{Port: test.port, Service: test.service}}, local)
		want(t, err, strings.ReplaceAll(test.want, "PORT", fmt.Sprint(test.port)))
	}
}

// A server that speaks something else, or says nothing, is unhealthy.
func TestAServerWithoutGRPC(t *testing.T) {
	for name, serve := range map[string]func(*net.TCPConn){
		"it closes":    func(*net.TCPConn) {},
		"it is HTTP/1": atOnce,
		"it resets":    reset,
	} {
		err := Probe(t.Context(), &api.Probe{GRPC: &api.GRPCAction{Port: listen(t, serve)}}, local)
		if _, unhealthy := errors.AsType[Unhealthy](err); !unhealthy {
			t.Errorf("%s: %v", name, err)
		}
	}
	port := listen(t, func(conn *net.TCPConn) { io.Copy(io.Discard, conn) })
	probe := &api.Probe{GRPC: &api.GRPCAction{Port: port}}
	want(t, Probe(late(t, 50*time.Millisecond), probe, local), fmt.Sprintf("unhealthy: gRPC to 127.0.0.1:%d: no answer within 5s", port))
	want(t, Probe(t.Context(), probe, Target{}), "unknown: the pod has no IP yet")
}
