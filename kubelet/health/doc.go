// Package health runs probes and the hooks postStart and preStop. Each does one of four
// things, within the deadline of its context.
//
//	                             ┌▶ httpGet ───▶ a request to the pod's IP
//	prober ───▶ Probe ──────┐    ├▶ grpc ──────▶ a request to its health service
//	postStart ┬▶ RunHandler ┴────┼▶ tcpSocket ─▶ a connection to it
//	preStop ──┘                  └▶ exec ──────▶ Target.Exec ─▶ Docker
//
// A container is Unhealthy only by its own fault: it refuses or breaks the connection, answers with a bad status or too
// late, or its command fails. Any other error says nothing about the container: the pod has no IP yet, a name cannot be
// resolved, this host has run out of connections, Docker is gone or busy. In 2014 it was the other way round: a dead
// web server was left alone, and a probe without an action killed its container.
//
// The HTTP status or the exit code decides. In 2014 a command had to print "ok".
package health
