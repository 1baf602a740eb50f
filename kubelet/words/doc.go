// Package words has the commands for every day, such as kubelet14 ps. A word is found by its name; it finds the kubelet, asks its
// info server, and prints the answer.
//
//	os.Args ─▶ Run ─▶ word ─▶ call.kubelet ─▶ client.Client ─▶ info server
//	           words.go       find.go
//
// Each word has a file of its own.
package words
