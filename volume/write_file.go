package volume

import "os"

// WriteFile writes a small file that outlives the kubelet and that only its owner can read. The file never holds half a
// text: a reader sees the one before or this one.
func WriteFile(path string, text []byte) error {
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
