#!/usr/bin/env python3
"""Checks Mintmark's audit log without Mintmark: standard library, openssl and psql.

    PGHOST=… PGDATABASE=… PGUSER=auditor python3 verify.py trusted.pem [kept.jsonl]

trusted.pem holds one or more P-256 public keys, kept.jsonl checkpoints that were kept elsewhere. docs/audit.md
describes the format. Exits with 1 if anything is wrong.
"""
import base64, hashlib, ipaddress, json, re, subprocess, sys, tempfile

EVENT = """mint_id step kind occurred_at request_id tenant idp issuer subject key provider provider_type grant_id
    grant_revision reason detail credential_id issued_at expires_at token_id token_hash claims client_address
    user_agent broker chain seq""".split()
CHANGE = "tenant revision table_name operation before after changed_by changed_at transaction_id".split()
TIMES = {"occurred_at", "issued_at", "expires_at", "changed_at"}
HASHES = ", encode(prev_hash, 'hex'), encode(hash, 'hex')"
UNESCAPE = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
problems, retired = 0, {}  # retired: (chain, first place) -> (last place, its hash)


def wrong(what):
    global problems
    problems += 1
    print("WRONG:", what)


def rows(query):
    """Streams a query's rows in COPY's text format, which keeps nulls and texts apart."""
    copy = subprocess.Popen(["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-c", f"COPY ({query}) TO STDOUT"],
                            stdout=subprocess.PIPE)
    for line in copy.stdout:
        fields = line.decode().rstrip("\n").split("\t")
        yield [None if f == "\\N" else re.sub(r"\\(.)", lambda m: UNESCAPE.get(m[1], m[1]), f) for f in fields]
    if copy.wait():
        sys.exit("psql failed")


def select(columns, table, order):
    texts = ("trunc(extract(epoch FROM %s) * 1000000)" % c if c in TIMES else
             "encode(%s, 'hex')" % c if c == "token_hash" else c for c in columns)
    return f"SELECT {', '.join(texts)}{HASHES} FROM {table} ORDER BY {order}"


def address(text):
    interface = ipaddress.ip_interface(text)
    return f"{interface.packed.hex()}/{interface.network.prefixlen}"


def canonical(form, fields):
    encoded = [None if f is None else f.encode() for f in [form] + fields]
    return b"".join(b"-," if f is None else b"%d:%s," % (len(f), f) for f in encoded)


def b64(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def integer(octets):  # DER
    octets = octets.lstrip(b"\0")
    octets = b"\0" + octets if not octets or octets[0] & 0x80 else octets
    return b"\x02%c%s" % (len(octets), octets)


def signed(jws, keys):
    """The payload, if one of the keys signed it."""
    header, payload, signature = jws.split(".")
    raw = b64(signature)
    pair = integer(raw[:32]) + integer(raw[32:])
    with tempfile.NamedTemporaryFile() as der:
        der.write(b"\x30%c%s" % (len(pair), pair))
        der.flush()
        for key in keys:
            check = subprocess.run(["openssl", "dgst", "-sha256", "-verify", key, "-signature", der.name],
                                   input=f"{header}.{payload}".encode(), capture_output=True)
            if check.returncode == 0:
                return json.loads(b64(payload))


def keys_of(pem):
    for part in re.findall("-----BEGIN PUBLIC KEY-----.*?-----END PUBLIC KEY-----", open(pem).read(), re.S):
        file = tempfile.NamedTemporaryFile("w", suffix=".pem", delete=False)
        file.write(part + "\n")
        file.close()
        yield file.name


def checkpoints(keys, kept):
    """Where each chain was sealed: (table, chain) -> {place: hash}."""
    sealed, before, stored = {}, None, {}
    for number, jws in rows("SELECT number, jws FROM audit.checkpoint ORDER BY number"):
        seal, stored[int(number)] = signed(jws, keys), jws
        if not seal:
            wrong(f"checkpoint {number} is not signed by a trusted key")
        elif (seal["number"], seal["previous"]) != (int(number), before) or len(stored) != int(number):
            wrong(f"checkpoint {number} doesn't follow the one before it")
        for head in seal["events"] if seal else []:
            sealed.setdefault(("event", head["chain"]), {})[head["seq"]] = head["hash"]
        for head in seal["changes"] if seal else []:
            sealed.setdefault(("change", head["tenant"]), {})[head["revision"]] = head["hash"]
        for part in (p for month in seal.get("retired", []) for p in month["parts"]) if seal else []:
            retired[part["chain"], part["first"]] = part["last"], part["hash"]
        before = hashlib.sha256(jws.encode()).hexdigest()
    for line in open(kept) if kept else []:
        if '"checkpoint"' in line and stored.get((copy := json.loads(line))["checkpoint"]) != copy["jws"]:
            wrong(f"checkpoint {copy['checkpoint']}, as it was kept, isn't in the database")
    return sealed


def chains(kind, query, columns, chain, place, sealed):
    now, at, last, count = None, 0, "", 0
    for count, row in enumerate(rows(query), 1):
        fields, (previous, digest) = row[:-2], row[-2:]
        if kind == "event" and fields[columns.index("client_address")]:
            fields[columns.index("client_address")] = address(fields[columns.index("client_address")])
        key = (kind, fields[columns.index(chain)])
        if key != now:
            now, at, last = key, 0, "00" * 32
        at += 1
        while kind == "event" and (key[1], at) in retired:
            gone, last = retired[key[1], at]
            at = gone + 1
        name = f"{kind} {fields[:2]} of chain {key[1]}"
        if fields[columns.index(place)] != str(at):
            wrong(f"{name} stands where row {at} belongs")
            at = int(fields[columns.index(place)] or 0)
        elif previous != last:
            wrong(f"{name} doesn't follow the row before it")
        form = canonical(f"mintmark {kind} 1", fields)
        if digest != hashlib.sha256(bytes.fromhex(previous or "") + form).hexdigest():
            wrong(f"{name} was changed")
        if sealed.get(key, {}).pop(at, digest) != digest:
            wrong(f"{name} isn't the row that was sealed")
        last = digest
    return count


seals = checkpoints(list(keys_of(sys.argv[1])), sys.argv[2] if len(sys.argv) > 2 else None)
events = chains("event", select(EVENT, "audit.event", "chain, seq"), EVENT, "chain", "seq", seals)
changes = chains("change", select(CHANGE, "audit.config_change", "tenant, revision"), CHANGE, "tenant",
                 "revision", seals)
for (kind, chain), heads in seals.items():
    for at in heads:
        if not any(kind == "event" and c == chain and f <= at <= r[0] for (c, f), r in retired.items()):
            wrong(f"row {at} of {kind} chain {chain} was sealed and is missing")
print(f"{events} events, {changes} changes, {problems} problems")
sys.exit(problems > 0)
