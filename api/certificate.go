package api

import (
	"fmt"
	"time"
)

// warningDays is how many days before its end there are warnings of a certificate.
const warningDays = 30

// Certificate is one that this kubelet shows to others. It is read at the start and never again.
type Certificate struct {
	Name     string // what it is for: "etcd client" or "info server"
	NotAfter time.Time
}

// Warning returns what to do about a certificate that has expired, or soon will; else "".
func (c Certificate) Warning(now time.Time) string {
	verb := "expires"
	switch {
	case c.NotAfter.After(now.AddDate(0, 0, warningDays)):
		return ""
	case c.NotAfter.Before(now):
		verb = "expired"
	}
	return fmt.Sprintf("the certificate of the %s %s at %s: renew it and restart the kubelet", c.Name, verb, c.NotAfter.UTC().Format(time.RFC3339))
}
