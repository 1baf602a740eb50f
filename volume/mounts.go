package volume

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
)

// checkMounts refuses a path in root_dir that is, holds or lies in something that
// was mounted in root_dir: the data there is not the volume's own. root_dir itself
// may be a mount point.
func (r *RootDir) checkMounts(rel string) error {
	table, err := os.ReadFile(r.mountinfo)
	if runtime.GOOS != "linux" && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for mount points: %w", err)
	}
	points, err := mountPoints(string(table))
	if err != nil {
		return fmt.Errorf("look for mount points in %s: %w", r.mountinfo, err)
	}
	path := r.abs(rel)
	var found []string
	for _, point := range points {
		if point != r.path && isIn(point, r.path) && (isIn(point, path) || isIn(path, point)) {
			found = append(found, point)
		}
	}
	if len(found) == 0 {
		return nil
	}
	command := "sudo umount"
	for _, point := range slices.Backward(found) { // the last one lies on top
		command += " " + shellQuote(point)
	}
	return fmt.Errorf("%q is a mount point, and what is mounted there is not deleted: unmount it with: %s", found[0], command)
}

// isIn says that path is dir or below it. Both are clean and absolute.
func isIn(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// mountPoints reads the fifth field of each line of a mountinfo table, the oldest
// mount first.
func mountPoints(table string) ([]string, error) {
	// As the kernel writes the characters that would break a line into other fields.
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\043`, "#", `\134`, `\`)
	var points []string
	for line := range strings.Lines(table) {
		fields := strings.Split(line, " ")
		if len(fields) < 5 {
			return nil, fmt.Errorf("unexpected line %q", line)
		}
		points = append(points, unescape.Replace(fields[4]))
	}
	return points, nil
}
