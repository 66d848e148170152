"""Draws docs/tenants/notices.png: what docs/tenants/notice-relay.py sends, in the looks of three chats.

    python3 src/test/resources/clients/chats.py docs/tenants/notices.png

Starts the relay, sends it signed notices, takes what it would send to a chat, and lets chromium draw the text as chats
do: what is between backticks as code, and URLs as links.
"""
import hashlib
import hmac
import html
import http.server
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

ID = "7c9e6679-7425-40de-944b-e07fc1f90ae7"
DATA = {"id": ID, "key": "prod\u200bdb", "subject": "grace@acme.example", "actor": "agent:release-bot", "actorIdp": "acme-agents",
        "reason": "INC-4711: restore <https://evil.example|the table>", "consoleUrl": "https://console.example.com/requests/" + ID}
NOTICES = [("requested", DATA),
           ("decided", dict(DATA, key="prod_db", approvals=[{"verdict": "approve", "decidedBy": "lea", "note": "for the export only"}]))]
CHATS = [("Slack", "#fff", "#1d1c1d", "Lato,sans-serif", "#e01e5a", "#f8f8f8"),
         ("Microsoft Teams", "#f5f5f5", "#242424", "Segoe UI,sans-serif", "#424242", "#e8e8e8"),
         ("Matrix (Element)", "#fff", "#17191c", "Inter,sans-serif", "#17191c", "#edf0f3")]
texts = []


class Chat(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        texts.append(json.loads(self.rfile.read(int(self.headers["Content-Length"])))["text"])
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def relayed(folder):
    chat = http.server.HTTPServer(("127.0.0.1", 0), Chat)
    threading.Thread(target=chat.serve_forever, daemon=True).start()
    for name, text in (("secret", "a secret"), ("target", "http://127.0.0.1:%d/" % chat.server_port)):
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
    port = chat.server_port + 1
    relay = subprocess.Popen([sys.executable, "docs/tenants/notice-relay.py", str(port)], stderr=subprocess.DEVNULL, env=dict(
        os.environ, NOTICE_SECRET_FILE=os.path.join(folder, "secret"), RELAY_TO_FILE=os.path.join(folder, "target")))
    time.sleep(1)
    try:
        for kind, data in NOTICES:
            body, now = json.dumps({"type": "io.mintmark.access." + kind, "subject": ID, "data": data}).encode(), str(int(time.time()))
            seal = hmac.new(b"a secret", now.encode() + b"." + body, hashlib.sha256).hexdigest()
            urllib.request.urlopen(urllib.request.Request(
                "http://127.0.0.1:%d/" % port, body, {"Mintmark-Signature": "t=%s,v1=%s" % (now, seal)}))
    finally:
        relay.kill()


def drawn(text):
    parts = re.split("`([^`]*)`", text)
    return "".join("<code>%s</code>" % html.escape(part.replace("\\\\", "\\")) if odd % 2 else
                   re.sub(r"https://\S+", r'<a>\g<0></a>', html.escape(part)) for odd, part in enumerate(parts))


def main():
    with tempfile.TemporaryDirectory() as folder:
        relayed(folder)
        page = "<meta charset=utf-8><style>body{margin:0;width:960px}section{padding:14px 20px;line-height:1.5;font-size:15px}" \
               "b{font-size:13px;opacity:.7}p{margin:6px 0}code{font:13px monospace;padding:1px 4px;border-radius:3px}a{color:#0b63c5}</style>"
        for name, back, ink, font, code, shade in CHATS:
            page += "<section style='background:%s;color:%s;font-family:%s'><b>%s</b>" % (back, ink, font, name)
            page += "".join("<p><strong>Mintmark</strong> %s</p>" % drawn(text).replace(
                "<code>", "<code style='color:%s;background:%s'>" % (code, shade)) for text in texts) + "</section>"
        path = os.path.join(folder, "chats.html")
        with open(path, "w") as file:
            file.write(page)
        subprocess.run(["chromium", "--headless", "--no-sandbox", "--hide-scrollbars", "--window-size=960,530",
                        "--user-data-dir=" + folder, "--screenshot=" + os.path.abspath(sys.argv[1]), "file://" + path],
                       check=True, stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
