// Hello is the demo's program alone, for images that tests make.
package main

import "kubelet14/manifests/hello"

func main() { hello.Main() }
