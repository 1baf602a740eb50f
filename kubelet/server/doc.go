// Package server is the kubelet's window: it shows what the kubelet knows, follows
// the logs of containers, runs commands in them, and lets no one else in.
//
//	curl, browser, Prometheus, kubelet14 -status
//	     │
//	     ▼
//	listener ─▶ guard ─▶ route ─┬▶ read      /healthz /podInfo /boundPods /pods /sources /events /spec/ /stats/ /metrics /
//	 loopback,   Host,    who   ├▶ logs      /containerLogs/
//	 unix: or    Origin   may?  ├▶ host logs /logs/
//	 TLS                        └▶ run       /run/
//	                                  │
//	                                  ▼
//	                       Kubelet (an interface)
//
// It sees the kubelet through the interface Kubelet, and imports nothing of it. A
// handler gets a request that was let in, and returns an error that says what the
// client is told (refusal); nothing is answered twice.
//
// # Who may do what
//
// Whoever can start a container with a directory of the host is root on the host, and
// whoever can run a command in such a container too. In 2014 any page that a browser
// showed could do that: GET /run/... in the address of an image was enough. Here:
//
//  1. The listener is on a loopback address, a unix socket of mode 0600, or has TLS.
//  2. The Host header names this kubelet, so no name that an attacker controls leads
//     here (DNS rebinding); what a page of another origin asks for is refused.
//  3. No GET changes anything.
//  4. To look at pods is for every user of this host, and with TLS for the holder of
//     the token. Logs and commands are for the holder of the token alone, and only
//     with -enable_debugging_handlers. Who can open the unix socket needs no token.
//  5. The page's cookie is good for reading logs and for nothing else.
//  6. No answer holds the value of an environment variable, nor the lines of a manifest
//     that could. Who may run commands can ask for the values.
//  7. Who is slow, sends what nobody wants or only holds connections does not keep
//     others out: there is a time for each step, and room is made for a new client.
package server
