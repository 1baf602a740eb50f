package envvars

import "testing"

func TestExpand(t *testing.T) {
	vars := map[string]string{"A": "a", "B": "$(A)", "EMPTY": ""}
	for text, want := range map[string]string{
		"$(A)-$(B)-$(EMPTY)-$(C)": "a-$(A)--$(C)", "$$(A) $$$(A) $$$$(A)": "$(A) $a $$(A)",
		"$": "$", "a$": "a$", "$A ${A} $(A": "$A ${A} $(A", "$()": "$()", "$(A $(A)": "$(A $(A)", "(A) $((A))": "(A) $((A))",
	} {
		if got := Expand(text, vars); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
