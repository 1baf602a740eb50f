package api_test
import ("testing";"strings";"time";"fmt"
"kubelet14/api/v1beta1")
func TestZZEvil(t *testing.T) {
	var all = map[string][3]string{
	"gts":       {"a: >\n", " \n", ""},
	"lit":       {"a: |\n", strings.Repeat(" \n",199)+" x\n", ""},
	"lit0":      {"a: |\n", strings.Repeat("\n",199)+" x\n", ""},
	"gtxx":      {"a: >\n", " x\n\n", ""},
	"commas":    {"[", ",", "]"},
	"braces":    {"", "{}", ""},
	"bracks":    {"", "[]", ""},
	"bracks2":    {"", "[],", ""},
	"braces3":    {"[", "{},", "]"},
	"dq":        {"", "\"\"", ""},
	"dqn":       {"a: \"", "\n\n x", "\""},
	"plain0":    {"a: x", "\n\n x", ""},
	"docs": {"", "---\na: b\n", ""},
	"docs2": {"", "---\nversion: v1beta1\n", ""},
	"docs3": {"", "---\nversion: v1beta1\nx: y\n", ""},
	"ends": {"", "...\n", ""},
	"docs0": {"", "---\n", ""},
	"seq0": {"", "-\n", ""},
	"seq1": {"version: v1beta1\ncontainers:\n", "- a\n", ""},
	"cont": {"version: v1beta1\ncontainers:\n", "- {}\n", ""},
	"seqseq": {"", "- - a\n", ""},
	"q": {"", "?\n", ""},
	"qq": {"", "? a\n", ""},
	"keys": {"", "a:\n", ""},
	"keysv": {"version: v1beta1\n", "a:\n", ""},
	"keyscomment": {"", "a: # x\n", ""},
	"colonf": {"{", ":", "}"},
	"colonf2": {"{", ": ,", "}"},
	"amp": {"[", "&a ,", "]"},
	"ampn": {"", "&a\n", ""},
	"anchors": {"", "&a ", ""},
	"tags": {"", "!a ", ""},
	"colons": {"", "a: ", ""},
	"bangn": {"", "!\n", ""},
	"star": {"", "*a : b\n", ""},
	"pct": {"", "%a\n", ""},
	"pipe2": {"", "a: |\n", ""},
	"pipe3": {"", "a: |\n b\n", ""},
	"merge": {"", "<<: {a: b}\n", ""},
	"openclose": {"", "[", strings.Repeat("]", 1000)},
	"open100": {"", strings.Repeat("[", 99)+strings.Repeat("]", 99)+",", ""},
	"open100b": {"", strings.Repeat("{a: ", 99)+strings.Repeat("}", 99)+"\n", ""},
	"dash100": {"- ", strings.Repeat("- ", 99)+"\n"+strings.Repeat(" ", 200), ""},
	"fc": {"[", "#\n", "]"},
	"fqmap": {"{", "? a, ", "}"},
	"ind": {"", "a:\n b:\n", ""},
	"alias": {"version: v1beta1\ncontainers:\n- name: a\n  command: &x ["+strings.Repeat("a,", 1000)+"]\n", "- command: *x\n", ""},
	"long": {"version: v1beta1\nid: ", "x", ""},
	"longkey": {"version: v1beta1\n", "x", ": a\n"},
	}
	for k, v := range all {
		best := time.Duration(0); bn := 0; msg := ""
		for n := 1 << 14; n <= 1<<20; n <<= 1 {
			s := v[0] + strings.Repeat(v[1], (n-len(v[0])-len(v[2]))/len(v[1])) + v[2]
			start := time.Now()
			_, err := v1beta1.NewScheme().Decode("f", []byte(s))
			if d := time.Since(start); d > best { best, bn = d, n; msg = fmt.Sprint(err); if len(msg) > 100 { msg = msg[:100] } }
		}
		if best > 200*time.Millisecond { fmt.Printf("%s n=%d %v %q\n", k, bn, best, msg) }
	}
}
