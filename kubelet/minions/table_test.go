package minions

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"

	"kubelet14/api"
	"kubelet14/api/unittest"
	"kubelet14/config"
	"kubelet14/config/etcdtest"
)

func TestARecordIsSmall(t *testing.T) {
	for _, text := range []string{strings.Repeat("x", 5000), strings.Repeat("é\"\\<", 900), strings.Repeat("世界", 900)} {
		r := Record{Time: time.Now(), Version: text, Expires: time.Unix(1, 0).UTC(), Health: text, SourceError: text, Revision: 1 << 62}
		pods := []api.PodStatus{{Name: "pulled", Phase: api.PodPending}}
		for i := range 2 * maxFailing {
			pods = append(pods, failing(fmt.Sprint(i, strings.Repeat("y", 252)), api.ReasonCommandNotFound))
		}
		r.setPods(pods)
		data, err := r.encode()
		var got Record
		if err != nil || json.Unmarshal(data, &got) != nil || len(data) > 400 || !utf8.Valid(data) {
			t.Errorf("%v, %d bytes: %s", err, len(data), data)
		}
		if got.Total != 11 || got.Up != 0 || len(got.Failing) != 5 || !strings.HasPrefix(got.Failing[4], api.ReasonCommandNotFound+": 4") {
			t.Errorf("the record holds %+v", got)
		}
	}
}

func TestTableFromEtcd(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t)
	client := s.Client()
	etcd, err := config.OpenEtcd([]string{s.Endpoint()}, "")
	unittest.Must(t, err)
	t.Cleanup(etcd.Close)
	if table, err := Table(t.Context(), etcd); table != "" || err == nil || !strings.Contains(err.Error(), "give them -etcd_status") {
		t.Errorf("the table without records is %q, %v", table, err)
	}
	put := func(host, known, live string) {
		t.Helper()
		ops := []clientv3.Op{clientv3.OpPut(knownPrefix+host, known)}
		if live != "" {
			ops = append(ops, clientv3.OpPut(livePrefix+host, live))
		}
		_, err := client.Txn(t.Context()).Then(ops...).Commit()
		unittest.Must(t, err)
	}
	record := func(health, rest string) string {
		return fmt.Sprintf(`{"time":"2026-11-22T14:03:22Z","version":"v1","health":%q,"revision":815,%s}`, health, rest)
	}
	fine := record("ok", `"up":2,"total":2`)
	put("a-fine", record("ok", `"up":0,"total":9`), fine)
	put("b-fine", fine, strings.Replace(fine, `{`, `{"expires":"2014-10-23T12:00:00Z",`, 1))
	const expired = "the certificate of the kubelet expired at 2014-10-23T12:00:00Z: renew it and restart the kubelet"
	const want = "HOST    STATE  SINCE  PODS    REVISION  VERSION  PROBLEMS\n" +
		"a-fine  up     -      2 of 2  815       v1       -\n" +
		"b-fine  up     -      2 of 2  815       v1       " + expired + "\n" +
		"\n2 of 2 hosts are up, and on these 4 of 4 pods\n"
	if table, err := Table(t.Context(), etcd); err != nil || table != want {
		t.Errorf("when all is well, Table returns %v\n%s", err, table)
	}

	put("c-source", "", record("ok", `"up":2,"total":2,"sourceError":"a typo","later":[1]`))
	put("d-pods", "", record("ok", `"up":1,"total":9,"failing":["BackOff: web.default.etcd","Error: db.default.etcd"]`))
	put("e-stopped", record("stopped", `"up":2,"total":2`), "")
	put("f-docker", "", record("no answer from Docker", `"up":0,"total":0`))
	put("g-silent", record("ok", `"up":2,"total":3,"failing":["BackOff: web.default.etcd"]`), "")
	put("h-broken", fine, "{")
	put("i-count", fine, record("ok", `"up":3,"total":2`))
	put("j-null", fine, "null")
	put("k\x1b[2J\tl\nm", "", record("ill", `"health":"\u001b[2J\na\tb\u202e","up":2,"total":2,"failing":["`+strings.Repeat("x", 5000)+`"],"version":"\u001b]0;t\u0007"`))
	since := time.Date(2026, 11, 22, 14, 3, 22, 0, time.UTC).Local().Format(time.RFC3339)
	wantRows := []string{
		"g-silent silent " + since + " 2 of 3 815 v1 BackOff: web.default.etcd",
		"h-broken unreadable - 0 of 0 0 - this is not a record of a kubelet: {",
		"i-count unreadable - 0 of 0 0 - this is not a record of a kubelet: " + record("ok", `"up":3,"total":2`),
		"j-null unreadable - 0 of 0 0 - this is not a record of a kubelet: null",
		"f-docker unhealthy - 0 of 0 815 v1 no answer from Docker",
		"k?[2J l; m unhealthy - 2 of 2 815 ?]0;t? ?[2J; a b?; " + strings.Repeat("x", 389) + "…",
		"e-stopped stopped " + since + " 2 of 2 815 v1 -",
		"d-pods up - 1 of 9 815 v1 BackOff: web.default.etcd; Error: db.default.etcd; 6 pending",
		"c-source up - 2 of 2 815 v1 a typo",
		"a-fine up - 2 of 2 815 v1 -",
		"b-fine up - 2 of 2 815 v1 " + expired,
		"", "4 of 11 hosts are up, and on these 7 of 15 pods",
	}
	table, err := Table(t.Context(), etcd)
	if err == nil || err.Error() != "not as they should be: 9 of 11 hosts; the table says why" {
		t.Errorf("it returns %v", err)
	}
	var rows []string
	for line := range strings.Lines(table) {
		rows = append(rows, strings.Join(strings.Fields(line), " "))
	}
	if diff := cmp.Diff(wantRows, rows[1:]); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}

	for i := range 100 {
		var ops []clientv3.Op
		for j := range 100 {
			ops = append(ops, clientv3.OpPut(fmt.Sprintf("%sn%d-%d", livePrefix, i, j), record("ok", `"up":30,"total":30,"failing":["`+strings.Repeat("x", 270)+`"]`)))
		}
		_, err := client.Txn(t.Context()).Then(ops...).Commit()
		unittest.Must(t, err)
	}
	if table, _ := Table(t.Context(), etcd); !strings.Contains(table, "\n10004 of 10011 hosts are up") {
		t.Errorf("the table of many hosts is %q …", api.Shorten(table, 1000))
	}
}
