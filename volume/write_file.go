package volume

import "os"

// WriteFile atomically writes a small file that outlives the kubelet and that only its owner can read. A reader sees
// either the old text or the new one.
func WriteFile(path string, text []byte) error {
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
