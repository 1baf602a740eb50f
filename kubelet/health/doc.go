// Package health runs liveness probes and the hooks postStart and preStop. Both do one
// of three things, and the deadline of ctx is their time limit.
//
//	prober ───▶ Probe ──────┐    ┌▶ httpGet ───▶ a request to the pod's IP
//	postStart ┬▶ RunHandler ┴────┼▶ tcpSocket ─▶ a connection to it
//	preStop ──┘                  └▶ exec ──────▶ Target.Exec ─▶ Docker
//
// A container is Unhealthy only through its own fault: it refuses or breaks the
// connection, answers with a bad status or too late, or its command fails. Any other
// error says nothing about it: the pod has no IP yet, a name is not found, this host has
// no more connections, Docker is gone or busy. In 2014 it was the other way round: a dead
// web server was left alone, and a probe without an action killed its container.
//
// The HTTP status and the exit code decide. In 2014 a command had to print "ok".
package health
