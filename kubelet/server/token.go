package server

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
)

// token is the secret that proves that a client may read logs and run commands.
// Neither log nor answer ever holds it.
type token string

const (
	cookieName   = "kubelet14_logs"
	maxTokenFile = 4096
)

// tokenForm is what a token in a header may be (RFC 6750), and not too short.
var tokenForm = regexp.MustCompile(`^[A-Za-z0-9._~+/=-]{16,}$`)

// ReadToken reads the token in a file. Others than its owner must not be able to.
func ReadToken(path string) (string, error) {
	// Opening a pipe waits for who writes, unless it is told not to.
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return "", fmt.Errorf("read the token: %w", err)
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("read the token: %s is no plain file", path)
	case info.Mode().Perm()&0o077 != 0:
		return "", fmt.Errorf("read the token: others may read %s: chmod 600 %[1]s", path)
	}
	data, err := io.ReadAll(io.LimitReader(file, maxTokenFile))
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	text := strings.TrimSpace(string(data))
	if len(data) == maxTokenFile || !tokenForm.MatchString(text) {
		return "", fmt.Errorf("read the token: %s must hold one word of 16 characters or more, of letters, digits and -._~+/=: `openssl rand -hex 32` makes one", path)
	}
	return text, nil
}

// MakeToken makes a token in a file that is not there yet, and reads the one that is.
// The file is there with the whole token, or not at all.
func MakeToken(path string) (string, error) {
	if text, err := ReadToken(path); !errors.Is(err, fs.ErrNotExist) {
		return text, err
	}
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".new-*") // of mode 0600
	if err != nil {
		return "", fmt.Errorf("make a token: %w", err)
	}
	defer os.Remove(file.Name()) // unless it has its name by then
	_, err = fmt.Fprintln(file, rand.Text()+rand.Text())
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return "", fmt.Errorf("make a token: %w", err)
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return "", fmt.Errorf("make a token: %w", err)
	}
	return ReadToken(path)
}

// is compares in a time that does not depend on how much is right.
func (t token) is(given string) bool {
	ours, theirs := sha256.Sum256([]byte(t)), sha256.Sum256([]byte(given))
	return t != "" && subtle.ConstantTimeCompare(ours[:], theirs[:]) == 1
}

// cookie is made from the token, and the token cannot be made from it.
func (t token) cookie() string {
	mac := hmac.New(sha256.New, []byte(t))
	mac.Write([]byte(cookieName))
	return hex.EncodeToString(mac.Sum(nil))
}

func (t token) isCookie(given string) bool {
	return t != "" && hmac.Equal([]byte(t.cookie()), []byte(given))
}

// logIn gives the page's cookie to who follows the link with the token, and leads on to
// the page, so that the token does not stay in the address.
func (s *Server) logIn(w http.ResponseWriter, r *http.Request, given string) error {
	if !s.token.is(given) {
		return s.deny("token", http.StatusForbidden, "the token of this link is another one: it is in %s", s.opts.TokenFile)
	}
	http.SetCookie(w, &http.Cookie{
		Name: cookieName, Value: s.token.cookie(), Path: "/", HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode,
	})
	http.Redirect(w, r, "/", http.StatusSeeOther)
	return nil
}
