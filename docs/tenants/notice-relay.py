"""Relays Mintmark's notices to an incoming webhook of Slack, Microsoft Teams or Mattermost, which take {"text": ...}."""
import hashlib, hmac, json, os, re, sys, time, urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = open(os.environ["NOTICE_SECRET_FILE"], "rb").read().rstrip(b"\r\n")
TARGET = open(os.environ["RELAY_TO_FILE"]).read().strip()
# The webhook of each person who consents to agents, by identity provider and subject.
PEOPLE = json.load(open(os.environ["RELAY_PEOPLE_FILE"])) if "RELAY_PEOPLE_FILE" in os.environ else {}
LEFT = {"ended": "has ended", "ending": "is being ended, and works until {} at most", "revoked": "is on the revocation list",
        "lasts": "works until {}", "cannot_end": "can't be ended, and works until {}"}
# Printable to Python, and yet nothing that a reader sees.
UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")


def shown(text):
    """A text of somebody else as code, which chats show as it is: without markup, mentions and links, and with each
    character that has no shape or could end the code as its number, so that two different texts never read alike."""
    return "`" + "".join(
        "\\\\" if c == "\\" else c if c.isprintable() and c not in "`<>&" and not UNSEEN.match(c) else f"\\u{{{ord(c):x}}}"
        for c in str(text)) + "`"


def text_of(event):
    data, what = event["data"], event["type"].rpartition(".")[2]
    who = shown(data["subject"]) + (f", through {shown(data['actor'])} ({shown(data.get('actorIdp'))})" if data.get("actor") else "")
    text = f"{what}: {who}, key {shown(data['key'])}: {shown(data['reason'])}"
    for vote in data.get("approvals", []):
        text += f"; {vote['verdict']} by {'program ' if vote.get('program') else ''}{shown(vote['decidedBy'])}"
        text += f": {shown(vote['note'])}" if vote.get("note") else ""
    for left in data.get("credentials", []):
        text += f"; credential {shown(left['mintId'])} {LEFT.get(left['state'], '{}').format(shown(left['expiresAt']))}"
    if what == "requested":
        gives = data.get("gives") or {}
        text += f"; gives {shown(gives.get('target') or gives.get('type'))} at {shown(gives.get('provider'))}" if gives else ""
        text += f" for {shown(data['seconds'])} s" if gives else ""
        settings = json.dumps(gives.get("settings", {}), ensure_ascii=False)
        text += f"; settings {shown(settings[:2000])}{' (cut)' if len(settings) > 2000 else ''}" if gives else ""
        text += "; only the subject decides" if data.get("consent") else ""
        text += f"; decide: {data['consoleUrl']}" if data.get("consoleUrl") else f" (mintmark-client approve {event['subject']})"
    return text


class Relay(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(min(int(self.headers.get("Content-Length", 0)), 65536))
        given = dict(part.partition("=")[::2] for part in self.headers.get("Mintmark-Signature", "").split(","))
        expected = hmac.new(SECRET, given.get("t", "").encode() + b"." + body, hashlib.sha256).hexdigest()
        fresh = given.get("t", "").isascii() and given.get("t", "").isdigit() and abs(time.time() - int(given["t"])) < 300
        if not fresh or not hmac.compare_digest(expected.encode(), given.get("v1", "").encode()):
            return self.send_error(401)
        event = json.loads(body)
        own = PEOPLE.get(event["data"].get("idp"), {}).get(event["data"]["subject"], TARGET)
        target = own if event["data"].get("consent") else TARGET
        request = urllib.request.Request(target, json.dumps({"text": text_of(event)}).encode(), {"Content-Type": "application/json"})
        try:
            urllib.request.urlopen(request, timeout=4).close()
            self.send_response(204), self.send_header("Connection", "close"), self.end_headers()  # as HTTP/1.0 does
        except OSError:
            self.send_error(502)


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Relay).serve_forever()
