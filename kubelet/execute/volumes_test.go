package execute

import (
	"errors"
	"io/fs"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestASetUpWithoutAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &Executor{}
		calls, never := atomic.Int32{}, make(chan struct{})
		for range 3 {
			began := time.Now()
			err := e.inTime(t.Context(), "volume", func() error {
				calls.Add(1)
				<-never
				return nil
			})
			if took := time.Since(began); err == nil || !strings.Contains(err.Error(), "no answer") || took != volumeLimit {
				t.Errorf("after %v: %v", took, err)
			}
		}
		if calls.Load() != 1 {
			t.Errorf("%d calls wait", calls.Load())
		}
		close(never)
		synctest.Wait()
		if err := e.inTime(t.Context(), "volume", func() error { return fs.ErrClosed }); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("when there is an answer again: %v", err)
		}
	})
}
