package volume

import (
	"errors"
	"io/fs"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// slow is a volume whose file system answers when it is told to.
type slow struct {
	calls  *atomic.Int32
	answer chan error
}

func (s slow) GetPath() string { return "" }

func (s slow) SetUp() error {
	s.calls.Add(1)
	return <-s.answer
}

func TestASetUpWithoutAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s SetUps
		v := slow{new(atomic.Int32), make(chan error)}
		for range 3 {
			began := time.Now()
			err := s.SetUp(t.Context(), v)
			if took := time.Since(began); err == nil || !strings.Contains(err.Error(), "no answer") || took != setUpLimit {
				t.Errorf("after %v: %v", took, err)
			}
		}
		if v.calls.Load() != 1 {
			t.Errorf("%d calls wait", v.calls.Load())
		}
		v.answer <- nil
		synctest.Wait()
		go func() { v.answer <- fs.ErrClosed }()
		if err := s.SetUp(t.Context(), v); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("when there is an answer again: %v", err)
		}
	})
}
