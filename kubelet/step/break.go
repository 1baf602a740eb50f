package step

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"kubelet14/api"
	"kubelet14/config"
)

// Break is a command with which a class breaks something, to see what the kubelet does about it.
type Break struct {
	Title string
	Args  []string
}

var plainWord = regexp.MustCompile(`^[\w./:@,=+-]+$`)

// String returns the command as a shell takes it.
func (b Break) String() string {
	words := slices.Clone(b.Args)
	for i, word := range words {
		if !plainWord.MatchString(word) {
			words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

// Breaks returns what can be done to the running containers of pods, and to the manifests in a directory.
func (s *Stepper) Breaks(pods []api.PodStatus, dir string) (all []Break) {
	add := func(title string, args ...string) { all = append(all, Break{title, args}) }
	for _, pod := range pods {
		for _, c := range pod.Containers {
			if c.State.Running != nil {
				add(fmt.Sprintf("Kill %s of %s", c.Name, pod.Name), slices.Concat([]string{"docker"}, s.DockerFlags, []string{"kill", c.ContainerID[:min(12, len(c.ContainerID))]})...)
			}
		}
	}
	files, _ := os.ReadDir(dir)
	for _, file := range files {
		name, path := file.Name(), filepath.Join(dir, file.Name())
		if filepath.Ext(name) != ".yaml" {
			continue
		}
		text, _, err := config.ReadFile(path)
		if err != nil {
			continue
		}
		move := func(title, to string) {
			if _, err := os.Lstat(filepath.Join(dir, to)); err != nil { // or it would be lost
				add(title, "mv", path, filepath.Join(dir, to))
			}
		}
		if shown, hidden := strings.CutPrefix(name, "."); hidden {
			move("Bring back "+shown, shown)
			continue
		}
		has := func(part string) bool { return strings.Contains(string(text), part) }
		if has("value: ") {
			next := map[bool]string{true: "a student", false: "the class"}[has("from the class")]
			add("Edit "+name, "sed", "-i", "s/value: [^,}]*/value: hello from "+next+"/", path)
		}
		if has("imgae:") {
			add("Repair "+name, "sed", "-i", "s/imgae:/image:/", path)
		} else {
			add("A typo in "+name, "sed", "-i", "s/image:/imgae:/", path)
		}
		move("Take away "+name, "."+name)
	}
	return all
}
