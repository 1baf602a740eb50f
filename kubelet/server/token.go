package server

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"regexp"
	"strings"
	"syscall"
)

// token is the secret that gives access to logs and commands. No log and no answer holds it.
type token string

const (
	cookieName   = "kubelet14_logs"
	maxTokenFile = 4096
)

// tokenForm is what RFC 6750 allows in a header, with a minimum length.
var tokenForm = regexp.MustCompile(`^[A-Za-z0-9._~+/=-]{16,}$`)

// ReadToken reads the token in a file, which only its owner may have access to.
func ReadToken(path string) (string, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // opening a pipe must not block
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return "", fmt.Errorf("read the token: %w", err)
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("read the token: %s is not a regular file", path)
	case info.Mode().Perm()&0o077 != 0:
		return "", fmt.Errorf("read the token: other users have access to %s: chmod 600 %[1]s", path)
	}
	data, err := io.ReadAll(io.LimitReader(file, maxTokenFile))
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	text := strings.TrimSpace(string(data))
	if len(data) == maxTokenFile || !tokenForm.MatchString(text) {
		return "", fmt.Errorf("read the token: %s must hold one word of 16 characters or more, of letters, digits and -._~+/=: "+
			"`openssl rand -hex 32` makes one", path)
	}
	return text, nil
}

// MakeToken reads the token in a file, or makes the file with a new token. The file never holds half a token.
func MakeToken(path string) (string, error) {
	if text, err := ReadToken(path); !errors.Is(err, fs.ErrNotExist) {
		return text, err
	}
	err := os.WriteFile(path+".new", []byte(rand.Text()+rand.Text()+"\n"), 0o600)
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		return "", fmt.Errorf("make a token: %w", err)
	}
	return ReadToken(path)
}

// matches reports whether a request has presented the token, and matchesCookie whether it has the cookie that is derived from
// it. They take the same time for every wrong value.
func (t token) matches(presented string) bool       { return t != "" && equal(string(t), presented) }
func (t token) matchesCookie(presented string) bool { return t != "" && equal(t.cookie(), presented) }

func equal(a, b string) bool {
	sumA, sumB := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return hmac.Equal(sumA[:], sumB[:])
}

// cookie does not reveal the token.
func (t token) cookie() string { return fmt.Sprintf("%x", sha256.Sum256([]byte(cookieName+string(t)))) }

// logIn answers the link with the token: it sets the cookie and redirects to the page without the token.
func (s *Server) logIn(w http.ResponseWriter, r *http.Request, presented string) error {
	if !s.token.matches(presented) {
		return s.deny("token", http.StatusForbidden, "the token of this link is wrong: the right one is in %s", s.opts.TokenFile)
	}
	http.SetCookie(w, &http.Cookie{
		Name: cookieName, Value: s.token.cookie(), Path: "/", HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode,
	})
	http.Redirect(w, r, "/", http.StatusSeeOther)
	return nil
}
