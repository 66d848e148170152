#!/usr/bin/env python3
"""Checks Mintmark's audit log without Mintmark: standard library, openssl and psql. docs/audit.md describes the format.

    PGHOST=… PGDATABASE=… PGUSER=auditor python3 verify.py trusted.pem [kept.jsonl]

trusted.pem: P-256 public keys; kept.jsonl: checkpoints that were kept elsewhere. Exits with 1 if anything is wrong,
also if there is nothing to prove anything with: no key, no checkpoint that holds, none in kept.jsonl.
"""
import base64, hashlib, ipaddress, json, re, subprocess, sys, tempfile
from datetime import datetime, timedelta, timezone

EVENT = """mint_id step kind occurred_at request_id tenant idp issuer subject key provider provider_type grant_id
    grant_revision reason detail credential_id issued_at expires_at token_id token_hash claims client_address
    user_agent broker chain seq""".split()
CHANGE = "tenant revision table_name operation before after changed_by changed_at transaction_id".split()
TIMES, BYTES = {"occurred_at", "issued_at", "expires_at", "changed_at", "sealed_at"}, {"token_hash", "prev_hash", "hash"}
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
problems = []


def wrong(what):
    problems.append(what)
    print("WRONG:", what)


def rows(columns, table, order):
    """Streams a table: each row as a list of texts and None, one JSON array a line."""
    texts = ("trunc(extract(epoch FROM %s) * 1000000)::text" % c if c in TIMES else
             "encode(%s, 'hex')" % c if c in BYTES else c + "::text" for c in columns)
    copy = f"""COPY (SELECT json_build_array({', '.join(texts)}) FROM {table} ORDER BY {order})
               TO STDOUT (FORMAT csv, ENCODING 'UTF8', QUOTE E'\\x01', DELIMITER E'\\x02')"""
    psql = subprocess.Popen(["psql", "-Xq", "-v", "ON_ERROR_STOP=1", "-c", copy], stdout=subprocess.PIPE)
    yield from map(json.loads, psql.stdout)
    if psql.wait():
        sys.exit("psql failed")


def canonical(form, columns, fields):
    texts = [form, *fields]
    if "client_address" in columns and texts[at := columns.index("client_address") + 1] is not None:
        inet = ipaddress.ip_interface(texts[at])
        texts[at] = f"{inet.packed.hex()}/{inet.network.prefixlen}"
    return b"".join(b"-," if t is None else b"%d:%s," % (len(t.encode()), t.encode()) for t in texts)


def b64(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def payload(jws, keys):
    """What a JWS says, if one of the keys signed it. openssl wants the two numbers of the signature in DER."""
    header, body, signature = jws.split(".")
    pair = b""
    for half in b64(signature)[:32], b64(signature)[32:]:
        number = int.from_bytes(half, "big")
        size = number.bit_length() // 8 + 1
        pair += b"\x02%c%s" % (size, number.to_bytes(size, "big"))
    for pem in keys:
        with tempfile.NamedTemporaryFile() as key, tempfile.NamedTemporaryFile() as der:
            for file, content in (key, pem.encode()), (der, b"\x30%c%s" % (len(pair), pair)):
                file.write(content)
                file.flush()
            verify = ["openssl", "dgst", "-sha256", "-verify", key.name, "-signature", der.name]
            if not subprocess.run(verify, input=f"{header}.{body}".encode(), capture_output=True).returncode:
                return json.loads(b64(body))


def micros(time):
    """Microseconds since 1970 of a time such as 2026-03-01T12:00:00.123456Z."""
    return round((datetime.fromisoformat(time.replace("Z", "+00:00")) - EPOCH) / timedelta(microseconds=1))


def lenient(line):
    """A line of the broker's output, whatever it is."""
    try:
        return json.loads(line)
    except ValueError:
        return {}


def checkpoints(keys, kept):
    """What was sealed, as (kind, chain) -> {place: hash}; what was retired, as (chain, first) -> (last, its hash)."""
    sealed, retired, stored, before, held = {}, {}, {}, None, 0
    for number, sealed_at, jws in rows(["number", "sealed_at", "jws"], "audit.checkpoint", "number"):
        stored[int(number)] = jws
        seal = payload(jws, keys)
        if not seal:
            wrong(f"checkpoint {number} is not signed by a trusted key")
            seal = {"events": [], "changes": []}
        elif micros(seal["sealed_at"]) != int(sealed_at):
            wrong(f"checkpoint {number} was sealed at {seal['sealed_at']}, and its row says otherwise")
        elif (seal["number"], seal["previous"]) != (int(number), before) or len(stored) != int(number):
            wrong(f"checkpoint {number} doesn't follow the one before it")
        for kind, chain, place in ("event", "chain", "seq"), ("change", "tenant", "revision"):
            for head in seal[kind + "s"]:
                sealed.setdefault((kind, head[chain]), {})[head[place]] = head["hash"]
        for part in (part for month in seal.get("retired", []) for part in month["parts"]):
            retired[part["chain"], part["first"]] = part["last"], part["hash"]
        before, held = hashlib.sha256(jws.encode()).hexdigest(), held + ("number" in seal)
    if not held:
        wrong("there is no checkpoint that holds, so nothing is proven")
    copies = kept is not None and [copy for line in kept if '"checkpoint"' in line and (copy := lenient(line)).get("jws")]
    if copies == []:
        wrong(f"{sys.argv[2]} holds no checkpoint, so nothing is proven with it")
    for copy in copies or []:
        if stored.get(copy["checkpoint"]) != copy["jws"]:
            wrong(f"checkpoint {copy['checkpoint']}, as it was kept, isn't in the database")
    return sealed, retired, held


def chains(kind, columns, table, chain, place, sealed, retired):
    """Follows every chain of a table row by row; what was sealed and is there is taken out of `sealed`."""
    now, at, last, count, open_end = None, 0, "", 0, 0
    ends = {chain: max(heads, default=0) for chain, heads in sealed.items()}
    for count, row in enumerate(rows(columns + ["prev_hash", "hash"], table, f"{chain}, {place}"), 1):
        *fields, previous, digest = row
        key = kind, fields[columns.index(chain)]
        now, at, last = (key, at + 1, last) if key == now else (key, 1, "00" * 32)
        while kind == "event" and (key[1], at) in retired:
            gone, last = retired[key[1], at]
            at = gone + 1
        name = f"{kind} {fields[:2]} of chain {key[1]}"
        if fields[columns.index(place)] != str(at):
            wrong(f"{name} stands where row {at} belongs")
            at = int(fields[columns.index(place)] or 0)
        elif previous != last:
            wrong(f"{name} doesn't follow the row before it")
        form = canonical(f"mintmark {kind} 1", columns, fields)
        if digest != hashlib.sha256(bytes.fromhex(previous or "") + form).hexdigest():
            wrong(f"{name} was changed")
        if sealed.get(key, {}).pop(at, digest) != digest:
            wrong(f"{name} isn't the row that was sealed")
        open_end += at > ends.get(key, 0)
        last = digest
    return count, open_end


if len(sys.argv) not in (2, 3):
    sys.exit(__doc__)
try:
    key_text, kept_lines = open(sys.argv[1]).read(), open(sys.argv[2]).readlines() if sys.argv[2:] else None
except OSError as e:
    sys.exit(f"{e.filename} can't be read ({e.strerror}), so nothing is proven")
trusted = re.findall("-----BEGIN PUBLIC KEY-----.*?-----END PUBLIC KEY-----\n?", key_text, re.S)
if not trusted:
    sys.exit(f"{sys.argv[1]} holds no public key, so nothing can be proven")
seals, gaps, held = checkpoints(trusted, kept_lines)
events, fresh_events = chains("event", EVENT, "audit.event", "chain", "seq", seals, gaps)
changes, fresh_changes = chains("change", CHANGE, "audit.config_change", "tenant", "revision", seals, gaps)
for (kind, chain), heads in seals.items():
    for at in heads:
        if not any(kind == "event" and c == chain and f <= at <= last for (c, f), (last, _) in gaps.items()):
            wrong(f"row {at} of {kind} chain {chain} was sealed and is missing")
print(f"{events} events and {changes} changes under {held} checkpoints, "
      f"{fresh_events + fresh_changes} of them under none yet, {len(problems)} problems")
sys.exit(bool(problems))
