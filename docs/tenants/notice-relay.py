"""Relays Mintmark's notices to an incoming webhook of Slack or Microsoft Teams, which take {"text": ...}."""
import hashlib, hmac, json, os, sys, time, urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = open(os.environ["NOTICE_SECRET_FILE"], "rb").read().rstrip(b"\r\n")
TARGET = open(os.environ["RELAY_TO_FILE"]).read().strip()


class Relay(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(min(int(self.headers.get("Content-Length", 0)), 65536))
        given = dict(part.partition("=")[::2] for part in self.headers.get("Mintmark-Signature", "").split(","))
        expected = hmac.new(SECRET, given.get("t", "").encode() + b"." + body, hashlib.sha256).hexdigest()
        fresh = given.get("t", "").isascii() and given.get("t", "").isdigit() and abs(time.time() - int(given["t"])) < 300
        if not fresh or not hmac.compare_digest(expected.encode(), given.get("v1", "").encode()):
            return self.send_error(401)
        event, plain = json.loads(body), lambda text: "".join(c for c in str(text) if c.isprintable() and c not in "<>&@*_~`|[]")
        data, what = event["data"], event["type"].rpartition(".")[2]
        who = plain(data["subject"]) + (f", through {plain(data['actor'])} ({plain(data.get('actorIdp'))})" if data.get("actor") else "")
        text = f"{what}: {who}, key {plain(data['key'])}: {plain(data['reason'])} (mintmark-client approve {event['subject']})"
        request = urllib.request.Request(TARGET, json.dumps({"text": text}).encode(), {"Content-Type": "application/json"})
        try:
            urllib.request.urlopen(request, timeout=4).close()
            self.send_response(204), self.end_headers()
        except OSError:
            self.send_error(502)


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Relay).serve_forever()
