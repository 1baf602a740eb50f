package config

import (
	"fmt"

	"kubelet14/api"
)

// amount is how many ConfigMaps and Secrets there are, and the bytes of their keys and values.
type amount struct{ objects, bytes int }

func (a amount) plus(b amount) amount  { return amount{a.objects + b.objects, a.bytes + b.bytes} }
func (a amount) minus(b amount) amount { return amount{a.objects - b.objects, a.bytes - b.bytes} }

// amountOf returns the amount of objects.
func amountOf(objects []object) (sum amount) {
	for _, o := range objects {
		if config, ok := o.value.(*api.ConfigObject); ok {
			sum = sum.plus(amount{1, config.Data.Size()})
		}
	}
	return sum
}

// admit counts the new objects of an input in place of the last good ones. The error says that a source would have too many.
func (in *input) admit(objects []object) error {
	last, next := amountOf(in.lastGood), amountOf(objects)
	switch sum := in.configs.minus(last).plus(next); {
	case next == amount{}:
	case sum.objects > api.MaxSourceObjects:
		return fmt.Errorf("%s: with it there are more than %d ConfigMaps and Secrets in one source: remove some", in.label, api.MaxSourceObjects)
	case sum.bytes > api.MaxSourceBytes:
		return fmt.Errorf("%s: with it the ConfigMaps and Secrets of one source are more than %d MiB: remove some", in.label, api.MaxSourceBytes>>20)
	}
	*in.configs = in.configs.minus(last).plus(next)
	return nil
}
