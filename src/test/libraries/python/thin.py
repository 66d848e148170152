"""The thin library for Python (src/clients/python) mints, renews, retries and asks for access."""

import datetime
import http.server
import json
import os
import pathlib
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(os.environ["DOCUMENTS"], "..", "src", "clients", "python")))
import mintmark  # noqa: E402

client = mintmark.Client()
deploy = client.source("deploy")
first = deploy.credentials()
assert first["AWS_ACCESS_KEY_ID"].startswith("ASIA"), first.keys()
assert deploy.credentials() == first, "a second mint"
assert {"deploy", "api"} <= {key["name"] for key in client.keys()}

try:
    client.source("spare").credentials()
    raise AssertionError("a key without a grant was minted")
except mintmark.Refused as refused:
    assert refused.status == 403 and refused.code == "FORBIDDEN" and refused.request_id, refused
    assert not refused.later

asked = client.request(["spare"], "a test of the thin library", 3600)
assert asked[0]["status"] == "pending", asked
assert client.wait(asked[0]["id"], timeout=0)["status"] == "pending"


class Answers(http.server.BaseHTTPRequestHandler):
    """A broker that answers as the test says, one status after another, the last for ever."""

    statuses = []
    asked = []
    life = 1000
    clock = datetime.datetime(2001, 1, 1)  # far behind this machine's

    def do_POST(self):
        self.asked.append((self.path, self.headers.get("Mintmark-Actor-Token")))
        status = self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]
        end = self.clock + datetime.timedelta(seconds=self.life)
        body = {"error": "SERVICE_UNAVAILABLE", "retryAfter": 0} if status != 200 else {
            "credentials": {"k": {"N": str(len(self.asked))}}, "subject": "s",
            "issuedAt": self.clock.isoformat() + "Z", "expiresAt": end.isoformat() + "Z"}
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
threading.Thread(target=server.serve_forever, daemon=True).start()
fake = mintmark.Client("http://127.0.0.1:%d" % server.server_port, lambda: "t", lambda: "actor")
now = 0.0
source = mintmark.Source(fake, "k", lambda: now)


def next_of(statuses):
    Answers.statuses, Answers.asked[:] = statuses, []
    return source.credentials()


# what may pass is repeated, with the actor's token; the clocks differ by decades
assert next_of([503, 429, 200]) == {"N": "3"}
assert Answers.asked == [("/credentials/mint", "actor")] * 3, Answers.asked
now = 599.0
assert next_of([200]) == {"N": "3"} and not Answers.asked, "renewed too early"
now = 751.0
assert next_of([503]) == {"N": "3"} and len(Answers.asked) == 1, "a caller waited for a renewal"
assert next_of([503]) == {"N": "3"} and not Answers.asked, "no pause after a failed renewal"
now = 999.0
assert next_of([503, 503]) == {"N": "3"}
now = 1001.0
assert next_of([200]) == {"N": "1"}, "an ended credential was served"

# a gateway doesn't know whether a credential was issued
now = 3000.0
try:
    next_of([502])
    raise AssertionError("502 is no answer")
except mintmark.Refused as refused:
    assert refused.status == 502 and len(Answers.asked) == 1, Answers.asked

# threads share one mint
now = 5000.0
Answers.statuses, Answers.asked[:] = [200], []
threads = [threading.Thread(target=source.credentials) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
assert len(Answers.asked) == 1, Answers.asked

# credentials that are over when they come are minted ever less often
Answers.life, Answers.asked[:] = -5, []
for second in range(300):
    now = 9000.0 + second
    source.credentials()
assert len(Answers.asked) <= 5, len(Answers.asked)

try:
    mintmark.Client("http://mintmark.example.com", lambda: "t")
    raise AssertionError("a token would travel in clear text")
except ValueError:
    pass

print("mintmark (Python) 0.1.0")
