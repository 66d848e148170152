// Package mintmark gets credentials of a Mintmark broker.
//
//	client, err := mintmark.New(mintmark.Options{})
//	deploy := client.Source("deploy")
//	members, err := deploy.Credentials(ctx) // the same until it is renewed
//
// A source renews its credential when a random part between 60 and 75 % of its life has passed. The
// life is what the broker says, counted from when the credential came: the clock of the machine
// doesn't matter.
package mintmark

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	defaultTimeout, requestTimeout = 90 * time.Second, 30 * time.Second // the first: longer than a window of the broker's limits
	leastOfLife, mostOfLife        = 0.60, 0.75
	shortestLife, longestFloor     = 30 * time.Second, 15 * time.Minute
	firstWait, longestWait         = 500 * time.Millisecond, 8 * time.Second
	longestPause, poll             = time.Minute, 2 * time.Second
	answerBytes                    = 1 << 20
)

// Token returns a token for each request.
type Token func(ctx context.Context) (string, error)

// Options of a client. What is left out comes from the environment.
type Options struct {
	URL        string        // MINTMARK_URL
	Token      Token         // MINTMARK_TOKEN, or the file in MINTMARK_TOKEN_FILE
	ActorToken Token         // the file in MINTMARK_ACTOR_TOKEN_FILE, if any
	Timeout    time.Duration // for a request with its repetitions; 90 seconds
	HTTP       *http.Client  // one that follows no redirects
}

// Refused is the broker's answer to a request that failed, without any token.
type Refused struct {
	Status     int            `json:"-"`
	Code       string         `json:"error"`
	Message    string         `json:"message"`
	RequestID  string         `json:"requestId"`
	RetryAfter float64        `json:"retryAfter"`
	Details    map[string]any `json:"details"`
}

func (r *Refused) Error() string {
	return fmt.Sprintf("%s (HTTP %d %s, request %s)", r.Message, r.Status, r.Code, r.RequestID)
}

// Later reports whether the same request may succeed later.
func (r *Refused) Later() bool {
	return slices.Contains([]int{429, 502, 503, 504}, r.Status)
}

// Unreachable means that there was no answer. If Sent is true, the broker may have issued a
// credential; its audit log shows it.
type Unreachable struct {
	Sent  bool
	Cause error
}

func (u *Unreachable) Error() string {
	return fmt.Sprintf("no response from the broker (request sent: %t): %s", u.Sent, u.Cause)
}

func (u *Unreachable) Unwrap() error { return u.Cause }

// Answer is what the broker minted, by key.
type Answer struct {
	Credentials map[string]map[string]string `json:"credentials"`
	IssuedAt    time.Time                    `json:"issuedAt"`
	ExpiresAt   time.Time                    `json:"expiresAt"`
	Subject     string                       `json:"subject"`
}

// AccessRequest is a request for access to a key. Status is pending until it is decided.
type AccessRequest struct {
	ID     string `json:"id"`
	Key    string `json:"key"`
	Status string `json:"status"`
}

// Client of a broker, for many goroutines.
type Client struct{ options Options }

// FileToken is a token that is read again for each request, because others renew the file.
func FileToken(path string) Token {
	return func(context.Context) (string, error) {
		text, err := os.ReadFile(path)
		return strings.TrimSpace(string(text)), err
	}
}

func environmentToken(name string) Token {
	if token := os.Getenv(name); token != "" {
		return func(context.Context) (string, error) { return token, nil }
	}
	if file := os.Getenv(name + "_FILE"); file != "" {
		return FileToken(file)
	}
	return nil
}

// New returns a client, or an error that names what is missing.
func New(o Options) (*Client, error) {
	o.URL = strings.TrimRight(cmp.Or(o.URL, os.Getenv("MINTMARK_URL")), "/")
	o.Timeout = cmp.Or(o.Timeout, defaultTimeout)
	address, err := url.Parse(o.URL)
	if err != nil {
		return nil, err
	}
	local := slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, address.Hostname())
	if address.Scheme != "https" && !(address.Scheme == "http" && local) {
		return nil, errors.New("the broker's URL must be https; plain http is for this machine only")
	}
	if o.Token == nil {
		if o.Token = environmentToken("MINTMARK_TOKEN"); o.Token == nil {
			return nil, errors.New("no identity token: set Options.Token or MINTMARK_TOKEN_FILE")
		}
	}
	if o.ActorToken == nil {
		o.ActorToken = environmentToken("MINTMARK_ACTOR_TOKEN")
	}
	if o.HTTP == nil { // tokens stay here
		o.HTTP = &http.Client{Timeout: requestTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	return &Client{o}, nil
}

// Source of the credentials of one key, renewed in time.
func (c *Client) Source(key string) *Source {
	return &Source{client: c, key: key, Now: time.Now}
}

// Mint mints once.
func (c *Client) Mint(ctx context.Context, keys ...string) (*Answer, error) {
	answer := new(Answer)
	return answer, c.call(ctx, false, "POST", "/credentials/mint", map[string]any{"keys": keys}, answer)
}

// Request asks for access that somebody else approves.
func (c *Client) Request(ctx context.Context, keys []string, reason string, access time.Duration) ([]AccessRequest, error) {
	var answer struct{ Requests []AccessRequest }
	body := map[string]any{"keys": keys, "reason": reason, "seconds": int(access.Seconds())}
	return answer.Requests, c.call(ctx, true, "POST", "/access-requests", body, &answer)
}

// Wait returns a request when it is decided.
func (c *Client) Wait(ctx context.Context, id string) (*AccessRequest, error) {
	for {
		request := new(AccessRequest)
		err := c.call(ctx, true, "GET", "/access-requests/"+url.PathEscape(id), nil, request)
		if err != nil || request.Status != "pending" {
			return request, err
		}
		if err := sleep(ctx, poll); err != nil {
			return request, err
		}
	}
}

func sleep(ctx context.Context, wait time.Duration) error {
	timer, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	<-timer.Done()
	return ctx.Err()
}

// call sends a request, and repeats it while that may help and nothing can be issued twice.
func (c *Client) call(ctx context.Context, repeatable bool, method, path string, body, answer any) error {
	end := time.Now().Add(c.options.Timeout)
	for wait := firstWait; ; wait = min(wait*2, longestWait) {
		err := c.send(ctx, method, path, body, answer)
		pause := rand.N(wait)
		var refused *Refused
		var unreachable *Unreachable
		switch {
		// 502 and 504 are of a gateway, which doesn't know whether the broker issued a credential
		case errors.As(err, &refused) && refused.Later() && (repeatable || refused.Status == 429 || refused.Status == 503):
			pause += time.Duration(refused.RetryAfter * float64(time.Second))
		case errors.As(err, &unreachable) && (repeatable || !unreachable.Sent):
		default:
			return err
		}
		if time.Now().Add(pause).After(end) || sleep(ctx, pause) != nil {
			return err
		}
	}
}

func (c *Client) send(ctx context.Context, method, path string, body, answer any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, method, c.options.URL+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	if body == nil {
		request.Body, request.ContentLength = http.NoBody, 0
	}
	for header, source := range map[string]Token{"Authorization": c.options.Token, "Mintmark-Actor-Token": c.options.ActorToken} {
		if source == nil {
			continue
		}
		token, err := source(ctx)
		if err != nil {
			return err
		}
		request.Header.Set(header, "Bearer "+token)
	}
	response, err := c.options.HTTP.Do(request)
	if err != nil {
		var dial *net.OpError
		return &Unreachable{Sent: !errors.As(err, &dial) || dial.Op != "dial", Cause: err}
	}
	defer response.Body.Close()
	text, err = io.ReadAll(io.LimitReader(response.Body, answerBytes))
	if err != nil {
		return &Unreachable{Sent: true, Cause: err}
	}
	if response.StatusCode == 200 || response.StatusCode == 202 {
		return json.Unmarshal(text, answer)
	}
	refused := &Refused{}
	if json.Unmarshal(text, refused) != nil || refused.Code == "" {
		refused.Message = "the response is not that of a Mintmark broker; check the URL"
	}
	refused.Status = response.StatusCode
	if asked, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && refused.RetryAfter == 0 {
		refused.RetryAfter = float64(asked)
	}
	return refused
}

// Source is the credential of one key, for many goroutines: one mint at a time, and the others wait.
type Source struct {
	client       *Client
	key          string
	Now          func() time.Time // a clock with a monotonic part; tests have their own
	lock         sync.Mutex
	members      map[string]string
	renewAt, end time.Time
	pause, floor time.Duration
}

// Credentials returns the members of the credential. If a renewal fails, the one before it serves
// until its end. now has a monotonic part, so setting the clock changes nothing.
func (s *Source) Credentials(ctx context.Context) (map[string]string, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.Now().Before(s.renewAt) && s.Now().Before(s.end) {
		return maps.Clone(s.members), nil
	}
	ended, client := !s.Now().Before(s.end), *s.client
	if !ended {
		client.options.Timeout = 0 // callers don't wait for retries
	}
	answer, err := client.Mint(ctx, s.key)
	if err != nil && ended {
		return nil, err
	} else if err != nil {
		s.pause = min(s.pause*2, longestPause)
		s.renewAt = s.Now().Add(rand.N(s.pause))
		var refused *Refused
		if errors.As(err, &refused) {
			s.renewAt = s.renewAt.Add(time.Duration(refused.RetryAfter * float64(time.Second)))
		}
		return maps.Clone(s.members), nil
	}
	life := answer.ExpiresAt.Sub(answer.IssuedAt)
	if s.floor = max(shortestLife, min(s.floor*2, longestFloor)); life >= shortestLife {
		s.floor = 0
	} // else it seems to be over: each call would mint, so the floor doubles
	life = max(life, s.floor)
	s.members, s.end, s.pause = answer.Credentials[s.key], s.Now().Add(life), time.Second
	s.renewAt = s.Now().Add(time.Duration(float64(life) * (leastOfLife + rand.Float64()*(mostOfLife-leastOfLife))))
	return maps.Clone(s.members), nil
}
