package orders

import (
	"bytes"
	"testing"
	"time"
)

// FuzzDecode holds that any file is read as something that is written and read alike, or not at
// all.
func FuzzDecode(f *testing.F) {
	f.Add(EncodeOrders(Orders{Generation: 1, On: Parts(), Why: "deploy"}))
	f.Add(EncodeReport(Report{Part: DHCP, On: true, Why: "answers"}))
	f.Add([]byte(`{"version":1,"content":{"hosts":["52:54:00:00:00:01"],"on":["http"]}}`))
	f.Add([]byte(`{"version":1,"content":[]}`))
	f.Add(EncodeRewrite(Rewrite{Host: "m0", Barred: time.Unix(1_700_000_000, 0).UTC(), Why: "no boot device"}))
	f.Fuzz(func(t *testing.T, file []byte) {
		if o, err := DecodeOrders(file); err == nil {
			text := EncodeOrders(o)
			if again, err := DecodeOrders(text); err != nil || !bytes.Equal(EncodeOrders(again), text) {
				t.Errorf("%q is %+v, then %+v, %v", file, o, again, err)
			}
		}
		if r, err := DecodeRewrite(file); err == nil {
			text := EncodeRewrite(r)
			if again, err := DecodeRewrite(text); err != nil || !bytes.Equal(EncodeRewrite(again), text) {
				t.Errorf("%q is %+v, then %+v, %v", file, r, again, err)
			}
		}
		if a, err := DecodeAcceptances(file); err == nil {
			text := EncodeAcceptances(a)
			if again, err := DecodeAcceptances(text); err != nil || !bytes.Equal(EncodeAcceptances(again), text) {
				t.Errorf("%q is %+v, then %+v, %v", file, a, again, err)
			}
		}
		if r, err := DecodeReport(file); err == nil {
			text := EncodeReport(r)
			if again, err := DecodeReport(text); err != nil || !bytes.Equal(EncodeReport(again), text) {
				t.Errorf("%q is %+v, then %+v, %v", file, r, again, err)
			}
		}
	})
}
