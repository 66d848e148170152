"""Approves requests for access whose ticket is approved: takes Mintmark's notices, asks the ticket system, decides."""
import hashlib, hmac, json, os, re, sys, time, urllib.error, urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = open(os.environ["NOTICE_SECRET_FILE"], "rb").read().rstrip(b"\r\n")
BROKER, TICKETS = os.environ["MINTMARK_URL"], os.environ["TICKETS_URL"]
OVER = {404, 409}  # somebody else decided, or the request is over


def answer(url, body=None):
    """The JSON of an answer. The token is read each time, because something else renews its file."""
    headers = {"Content-Type": "application/json"}
    if body is not None:
        headers["Authorization"] = "Bearer " + open(os.environ["MINTMARK_TOKEN_FILE"]).read().strip()
    request = urllib.request.Request(url, None if body is None else json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=2) as reply:
        return json.load(reply)


def is_first(ticket, request):
    """Whether no other request has used a ticket: a link by its name says which one has."""
    path = os.path.join(os.environ["USED_TICKETS_DIR"], ticket)
    try:
        os.symlink(request, path)
    except FileExistsError:
        return os.readlink(path) == request
    return True


def decide(event):
    data, ticket = event["data"], re.match("INC-[0-9]{1,9}(?![0-9])", event["data"]["reason"])
    if event["type"] != "io.mintmark.access.requested" or not ticket:
        return
    found = answer(f"{TICKETS}/{ticket.group()}")
    named = [found.get(part) for part in ("key", "idp", "requester", "actorIdp", "actor")]
    if named != [data[part] for part in ("key", "idp", "subject", "actorIdp", "actor")] or found.get("state") not in ("approved", "rejected"):
        return  # a person decides
    if not data["seconds"] <= found.get("seconds", 0):
        return  # longer than the ticket is for
    if not is_first(ticket.group(), event["subject"]):
        return  # a ticket is for one request
    verdict = "approve" if found["state"] == "approved" else "refuse"
    note = f"{ticket.group()} is {found['state']} by {found['decided_by']}"
    try:
        answer(f"{BROKER}/access-requests/{event['subject']}/decision", {"verdict": verdict, "note": note[:1000], "revisions": data["revisions"]})
    except urllib.error.HTTPError as refused:
        if refused.code not in OVER:
            raise


class Notices(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(min(int(self.headers.get("Content-Length", 0)), 65536))
        given = dict(part.partition("=")[::2] for part in self.headers.get("Mintmark-Signature", "").split(","))
        expected = hmac.new(SECRET, given.get("t", "").encode() + b"." + body, hashlib.sha256).hexdigest()
        fresh = re.fullmatch("[0-9]{1,12}", given.get("t", "")) and abs(time.time() - int(given["t"])) < 300
        if not fresh or not hmac.compare_digest(expected.encode(), given.get("v1", "").encode()):
            return self.send_error(401)
        try:
            decide(json.loads(body))
            self.send_response(204), self.send_header("Connection", "close"), self.end_headers()  # as HTTP/1.0 does
        except (OSError, ValueError) as failure:  # Mintmark sends the notice again
            self.log_error("%s", failure)
            self.send_error(502)


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Notices).serve_forever()
