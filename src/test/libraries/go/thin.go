package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	mintmark "mintmark.io/go"
)

// thin mints, renews, retries and asks for access with the thin library (src/clients/go).
func thin(ctx context.Context) {
	client, err := mintmark.New(mintmark.Options{})
	check(err)
	source := client.Source("deploy")
	first, err := source.Credentials(ctx)
	check(err)
	expect(strings.HasPrefix(first["AWS_ACCESS_KEY_ID"], "ASIA"), "no credentials")
	second, err := source.Credentials(ctx)
	check(err)
	expect(second["AWS_ACCESS_KEY_ID"] == first["AWS_ACCESS_KEY_ID"], "a second mint")

	_, err = client.Source("spare").Credentials(ctx)
	var refused *mintmark.Refused
	expect(errors.As(err, &refused), "a key without a grant was minted")
	expect(refused.Code == "FORBIDDEN" && !refused.Later() && refused.RequestID != "", err.Error())

	asked, err := client.Request(ctx, []string{"spare"}, "a test of the thin library", time.Hour)
	check(err)
	expect(asked[0].Status == "pending", asked[0].Status)
	soon, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	pending, err := client.Wait(soon, asked[0].ID)
	expect(err != nil && pending.Status == "pending", "a request was decided by nobody")
	thinRetries(ctx)
	fmt.Println("mintmark.io/go 0.1.0")
}

// thinRetries asks a broker that answers as the test says.
func thinRetries(ctx context.Context) {
	var statuses []int
	end := "2001-01-01T00:16:40Z"
	var calls atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		number := int(calls.Add(1))
		expect(r.Header.Get("Mintmark-Actor-Token") == "Bearer actor", "no token of the actor")
		status := statuses[min(number, len(statuses))-1]
		w.WriteHeader(status)
		if status != 200 {
			fmt.Fprint(w, `{"error": "SERVICE_UNAVAILABLE", "retryAfter": 0}`)
			return
		}
		// far behind this machine's clock
		fmt.Fprintf(w, `{"credentials": {"k": {"N": "%d"}}, "subject": "s",
			"issuedAt": "2001-01-01T00:00:00Z", "expiresAt": "%s"}`, number, end)
	}))
	defer server.Close()
	token := func(text string) mintmark.Token {
		return func(context.Context) (string, error) { return text, nil }
	}
	fake, err := mintmark.New(mintmark.Options{URL: server.URL, Token: token("t"), ActorToken: token("actor")})
	check(err)
	now, began := 0, time.Now()
	source := fake.Source("k")
	source.Now = func() time.Time { return began.Add(time.Duration(now) * time.Second) }
	next := func(given ...int) (string, int) {
		statuses = given
		calls.Store(0)
		members, err := source.Credentials(ctx)
		if err != nil {
			return err.Error(), int(calls.Load())
		}
		return members["N"], int(calls.Load())
	}
	is := func(at int, wanted string, wantedCalls int, given ...int) {
		now = at
		got, made := next(given...)
		expect(strings.HasPrefix(got, wanted) && made == wantedCalls, fmt.Sprint(at, ": ", got, " by ", made, " calls"))
	}
	is(0, "3", 3, 503, 429, 200)
	is(599, "3", 0, 200)
	is(751, "3", 1, 503) // no caller waits for a renewal
	is(751, "3", 0, 503)
	is(1001, "1", 1, 200)          // an ended credential isn't served
	is(3000, " (HTTP 502", 1, 502) // not repeated

	now = 5000
	statuses = []int{200}
	calls.Store(0)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			_, err := source.Credentials(ctx)
			check(err)
		})
	}
	group.Wait()
	expect(calls.Load() == 1, "goroutines don't share a mint")

	// credentials that are over when they come are minted ever less often
	end = "2000-12-31T23:59:55Z"
	calls.Store(0)
	for now = 9000; now < 9300; now++ {
		_, err := source.Credentials(ctx)
		check(err)
	}
	expect(calls.Load() <= 5, fmt.Sprint(calls.Load(), " mints"))

	_, err = mintmark.New(mintmark.Options{URL: "http://mintmark.example.com", Token: token("t")})
	expect(err != nil, "a token would travel in clear text")
}
