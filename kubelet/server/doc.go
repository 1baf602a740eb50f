// Package server is the kubelet's info server: status, logs and commands over HTTP, with access control.
//
//	curl, browser, Prometheus, kubelet14 -status
//	     │
//	     ▼
//	listener ─▶ checkRequest ─▶ routes ─┬▶ anyone   /healthz /static/ /source/
//	 loopback,   Host, Origin    token? ├▶ reading  / /status /pods /node /sources /events /metrics /podInfo /boundPods /spec/ /stats/
//	 unix: or                           ├▶ logs     /stream /changes/ /step /break /containerLogs/ /logs/
//	 TLS                                └▶ running  /run/ /exec/ /stop/ /start/ /restart/
//	                                         │
//	                                         ▼
//	                                 Kubelet, an interface
//
// A handler answers a request, or returns an error before it has written anything: the client gets it as one line.
//
// A user who can run a command in a container that mounts a directory of the host is root on the host. In 2014 every web
// page could do that: GET /run/... as the address of an image was enough. Here:
//
//  1. The listener is on a loopback address, is a unix socket of mode 0600, or has TLS.
//  2. The Host header must name this kubelet, which stops DNS rebinding. Requests made by pages of other origins are refused.
//  3. No GET changes anything.
//  4. Every user of this host may read the status, without messages; with TLS that takes the token. Messages and logs take the
//     token or the page's key, and commands the token. A client that can open the unix socket needs no token.
//  5. The key is in the address of the page. It is good for one address, port and start of the kubelet.
//  6. Only /boundPods?env=1 shows values of environment variables, and only to clients that may run commands.
//  7. Each step of a request has a time limit, and the number of connections is limited. Only who may read logs keeps one.
package server
