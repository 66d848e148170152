"""Credentials of a Mintmark broker for Python programs. Python 3.8 or newer, standard library alone.

    import mintmark
    deploy = mintmark.Client().source("deploy")
    deploy.credentials()["AWS_ACCESS_KEY_ID"]   # the same until it is renewed

A source renews its credential when a random part between 60 and 75 % of its life has passed. The life
is what the broker says, counted from when the credential came: the clock of the machine doesn't matter.
"""

import http.client
import json
import os
import random
import threading
import time
import urllib.parse
from datetime import datetime, timezone

TIMEOUT_SECONDS = 90  # longer than the minute in which the broker counts the requests of an address
REQUEST_SECONDS = 30
RENEWED_AFTER = (0.60, 0.75)
# However short a credential's life seems to be. Doubles with each that is shorter, up to the second.
SHORTEST_LIFE_SECONDS = 30
LONGEST_FLOOR_SECONDS = 900
FIRST_WAIT_SECONDS = 0.5
LONGEST_WAIT_SECONDS = 8
LONGEST_PAUSE_SECONDS = 60
POLL_SECONDS = 2
ANSWER_BYTES = 1 << 20
LOCAL = ("localhost", "127.0.0.1", "::1")


class Refused(Exception):
    """The broker's answer to a request that failed, without any token."""

    def __init__(self, status, body):
        self.status = status
        self.code = str(body.get("error", ""))
        self.request_id = str(body.get("requestId", ""))
        self.details = body.get("details") if isinstance(body.get("details"), dict) else {}
        self.retry_after = body.get("retryAfter") if isinstance(body.get("retryAfter"), (int, float)) else None
        super().__init__("%s (HTTP %d %s, request %s)" % (body.get("message", "no message"), status, self.code,
                                                          self.request_id))

    @property
    def later(self):
        """Whether the same request may succeed later."""
        return self.status in (429, 502, 503, 504)


class Unreachable(Exception):
    """No answer. If sent is true, the broker may have issued a credential; its audit log shows it."""

    def __init__(self, message, sent):
        super().__init__(message + ("; the request was sent and is not repeated" if sent else ""))
        self.sent = sent


def file_token(path):
    """A token that is read again for each request, because others renew the file."""
    def read():
        with open(path) as file:
            return file.read().strip()
    return read


def _environment_token(name):
    if os.environ.get(name):
        return lambda: os.environ[name]
    return file_token(os.environ[name + "_FILE"]) if os.environ.get(name + "_FILE") else None


class Client:
    """A broker, and the tokens to show it: functions without arguments that return a token.

    Without arguments: MINTMARK_URL, MINTMARK_TOKEN or MINTMARK_TOKEN_FILE, MINTMARK_ACTOR_TOKEN_FILE.
    """

    def __init__(self, url=None, token=None, actor_token=None, timeout=TIMEOUT_SECONDS, context=None):
        self._url = urllib.parse.urlsplit((url or os.environ.get("MINTMARK_URL", "")).rstrip("/"))
        if self._url.scheme != "https" and not (self._url.scheme == "http" and self._url.hostname in LOCAL):
            raise ValueError("the broker's URL must be https; plain http is for this machine only")
        self._token = token or _environment_token("MINTMARK_TOKEN")
        if self._token is None:
            raise ValueError("no identity token: pass token, or set MINTMARK_TOKEN_FILE")
        self._actor_token = actor_token or _environment_token("MINTMARK_ACTOR_TOKEN")
        self._timeout = timeout
        self._context = context

    def source(self, key):
        """Credentials of one key, renewed in time."""
        return Source(self, key)

    def mint(self, *keys):
        """Mints once: the broker's answer with credentials, issuedAt and expiresAt."""
        return self._call("POST", "/credentials/mint", {"keys": list(keys)}, repeatable=False)

    def keys(self):
        return self._call("GET", "/credentials/keys")["keys"]

    def request(self, keys, reason, seconds):
        """Asks for access that somebody else approves: the requests, each with id and status."""
        return self._call("POST", "/access-requests", {"keys": list(keys), "reason": reason, "seconds": seconds})[
            "requests"]

    def wait(self, request_id, timeout=86400):
        """Waits until a request is decided: the request as it is then."""
        end = time.monotonic() + timeout
        while True:
            request = self._call("GET", "/access-requests/" + urllib.parse.quote(request_id, safe=""))
            if request["status"] != "pending" or time.monotonic() + POLL_SECONDS > end:
                return request
            time.sleep(POLL_SECONDS)

    def _call(self, method, path, body=None, repeatable=True):
        """Sends a request, and repeats it while that may help and nothing can be issued twice."""
        end = time.monotonic() + self._timeout
        wait = FIRST_WAIT_SECONDS
        while True:
            try:
                return self._send(method, path, body)
            except Refused as refused:
                # 502 and 504 are of a gateway, which doesn't know whether the broker issued a credential
                if not refused.later or (refused.status in (502, 504) and not repeatable):
                    raise
                pause = random.uniform(0, wait) + (refused.retry_after or 0)
                if time.monotonic() + pause > end:
                    raise
            except Unreachable as failure:
                pause = random.uniform(0, wait)
                if (failure.sent and not repeatable) or time.monotonic() + pause > end:
                    raise
            time.sleep(pause)
            wait = min(wait * 2, LONGEST_WAIT_SECONDS)

    def _send(self, method, path, body):
        headers = {"Authorization": "Bearer " + self._token(), "User-Agent": "mintmark-python"}
        if self._actor_token:
            headers["Mintmark-Actor-Token"] = self._actor_token()
        if body is not None:
            headers["Content-Type"] = "application/json"
        secure = self._url.scheme == "https"
        connection = (http.client.HTTPSConnection if secure else http.client.HTTPConnection)(
            self._url.hostname, self._url.port, timeout=REQUEST_SECONDS, **({"context": self._context} if secure else {}))
        try:
            try:
                connection.connect()
            except OSError as failure:
                raise Unreachable("cannot reach the broker: %s" % type(failure).__name__, False) from failure
            try:
                connection.request(method, self._url.path + path, None if body is None else json.dumps(body), headers)
                response = connection.getresponse()
                text = response.read(ANSWER_BYTES)
            except (OSError, http.client.HTTPException) as failure:
                raise Unreachable("no response from the broker: %s" % type(failure).__name__, True) from failure
        finally:
            connection.close()
        try:
            answer = json.loads(text)
        except ValueError:
            answer = None
        if response.status in (200, 202) and isinstance(answer, dict):
            return answer
        answer = answer if isinstance(answer, dict) else {"message": "the response is not that of a Mintmark broker; check the URL"}
        if "retryAfter" not in answer and response.headers.get("Retry-After", "").isdigit():
            answer["retryAfter"] = int(response.headers["Retry-After"])
        raise Refused(response.status, answer)


class Source:
    """The credential of one key, for many threads: one mint at a time, and the others wait for it."""

    def __init__(self, client, key, now=time.monotonic):
        self._client = client
        self._key = key
        self._now = now
        self._lock = threading.Lock()
        self._current = None
        self._renew_at = self._end = 0
        self._pause = 1
        self._floor = SHORTEST_LIFE_SECONDS

    def credentials(self):
        """The members of the credential. If a renewal fails, the one before it serves until its end."""
        with self._lock:
            if self._now() >= min(self._renew_at, self._end):
                try:
                    self._renew()
                except (Refused, Unreachable, OSError) as failure:
                    if self._now() >= self._end:
                        raise
                    self._pause = min(self._pause * 2, LONGEST_PAUSE_SECONDS)
                    asked = getattr(failure, "retry_after", None) or 0
                    self._renew_at = self._now() + asked + random.uniform(0, self._pause)
            return dict(self._current)

    def _renew(self):
        # once there is a credential, callers don't wait for retries
        answer = self._client.mint(self._key) if self._now() >= self._end else self._client._send(
            "POST", "/credentials/mint", {"keys": [self._key]})
        came = self._now()
        life = self._plausible(_instant(answer["expiresAt"]) - _instant(answer["issuedAt"]))
        self._current = answer["credentials"][self._key]
        self._renew_at = came + life * random.uniform(*RENEWED_AFTER)
        self._end = came + life
        self._pause = 1

    def _plausible(self, life):
        """A credential that seems to be over when it comes must not be minted again at each call."""
        if life >= SHORTEST_LIFE_SECONDS:
            self._floor = SHORTEST_LIFE_SECONDS
            return life
        floor = self._floor
        self._floor = min(floor * 2, LONGEST_FLOOR_SECONDS)
        return floor


def _instant(text):
    return datetime.strptime(text[:19], "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc).timestamp()
