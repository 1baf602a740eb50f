package health

import (
	"context"
	"errors"
	"fmt"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"kubelet14/api"
)

// grpc asks the service grpc.health.v1.Health of the container, over a new connection without TLS. It connects itself: an
// error of the library does not say whose fault a failed dial is.
func (t Target) grpc(ctx context.Context, a *api.GRPCAction) error {
	address, err := t.address("", api.IntOrString{Int: a.Port})
	if err != nil {
		return err
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("gRPC to %s: %w", address, classify(ctx, err))
	}
	defer conn.Close()
	// The library takes a connection anew only when it has closed the one before, and so finds this one closed.
	dial := func(context.Context, string) (net.Conn, error) { return conn, nil }
	client, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDisableServiceConfig(), grpc.WithUserAgent("kubelet14"), grpc.WithContextDialer(dial))
	if err != nil {
		return err
	}
	defer client.Close()
	answer, err := grpc_health_v1.NewHealthClient(client).Check(ctx, &grpc_health_v1.HealthCheckRequest{Service: a.Service})
	switch s := status.Convert(err); {
	case s.Code() == codes.Unimplemented:
		err = unhealthy("its server has no service grpc.health.v1.Health")
	case s.Code() == codes.NotFound:
		err = unhealthy(fmt.Sprintf("its server does not know the service %q", a.Service))
	case err != nil:
		err = classify(ctx, errors.New(s.Message()))
	case answer.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING:
		err = unhealthy(answer.GetStatus().String())
	default:
		return nil
	}
	return fmt.Errorf("gRPC to %s: %w", address, err)
}
