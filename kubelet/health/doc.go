// Package health asks containers: for a liveness probe whether one still works, for
// a hook to do something. Both ask in the same ways.
//
//	prober ─────▶ Probe ──────┐               ┌▶ httpGet ───▶ a connection to the pod's IP
//	postStart ─┐              ├─▶ Target.ask ─┼▶ tcpSocket ─▶ the same, without a request
//	preStop ───┴▶ RunHandler ─┘               └▶ exec ──────▶ Target.Exec ─▶ Docker
//
// The kubelet's prober of a container calls Probe again and again; the worker of a
// pod calls RunHandler after a start and before a stop. Both say by ctx how long it
// may take. Nothing here remembers anything or acts on what it finds, and every
// function may be called by any number of goroutines at once.
//
// # What must hold
//
//  1. A container is Unhealthy only by its own fault: it refuses or breaks the
//     connection, answers badly or not in time, or its command fails. A question
//     that could not be put is Unknown: the pod has no IP yet, a name is not found,
//     this host has no more connections, Docker is gone or too busy. In 2014 it was
//     the other way round: a dead web server was left alone, and a probe without an
//     action killed its container for ever.
//  2. The status of an answer and the exit code of a command are the verdict. What
//     they say besides is for people. In 2014 a command had to print "ok".
//  3. A container may answer with anything, and without end: of its words one line
//     of 1 KiB is kept, and nothing that could harm a log or a terminal.
//  4. Every connection is closed when its call returns.
package health
