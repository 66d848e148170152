#!/usr/bin/env python3
"""Checks Mintmark's audit log without Mintmark: standard library, openssl and psql. docs/audit.md describes the format.

    PGHOST=… PGDATABASE=… PGUSER=auditor python3 verify.py trusted.pem [kept.jsonl] [--accept-gap HASH]…
    python3 verify.py trusted.pem [kept.jsonl] --export log.jsonl… [--accept-gap HASH]…

trusted.pem: P-256 public keys; kept.jsonl: checkpoints that were kept elsewhere; --export: what `audit export --all`
wrote as jsonl, instead of a database. Exits with 1 if anything is wrong, also if there is nothing to prove anything
with: no key, no checkpoint that holds, none in kept.jsonl; with 3 if nothing is wrong but what somebody with the
signing key declared, unless that is accepted by its hash.
"""
import argparse, base64, hashlib, ipaddress, json, re, sqlite3, subprocess, sys, tempfile
from collections import defaultdict
from datetime import date, datetime, timedelta, timezone

EVENT = """mint_id step kind occurred_at request_id tenant idp issuer subject key provider provider_type grant_id
    grant_revision reason detail credential_id issued_at expires_at token_id token_hash claims client_address
    user_agent broker chain seq""".split()
CHANGE = "tenant revision table_name operation before after changed_by changed_at transaction_id".split()
TIMES, BYTES = {"occurred_at", "issued_at", "expires_at", "changed_at", "sealed_at"}, {"token_hash", "prev_hash", "hash"}
NUMBERS = {"step", "grant_id", "grant_revision", "seq", "revision", "transaction_id"}
DOCUMENTS = {"claims", "before", "after"}
EPOCH, DAY, HOUR = datetime(1970, 1, 1, tzinfo=timezone.utc), timedelta(days=1), 3_600_000_000
P256 = bytes.fromhex("3059301306072a8648ce3d020106082a8648ce3d03010703420004")
problems, declarations, unaccepted = [], [], []
sys.setrecursionlimit(20_000)


def wrong(what):
    problems.append(what)
    print("WRONG:", what)


def declared(what, digest):
    known = digest in arguments.accept_gap
    unaccepted.extend([] if known else [digest])
    print("accepted:" if known else "DECLARED:", what, "" if known else f"(--accept-gap {digest})")


# ---------------------------------------------------------------- where the log is read


class Database:
    """The log in its tables."""

    def rows(self, columns, table, order):
        """Streams a table: each row as a list of texts and None, one JSON array a line."""
        texts = ("trunc(extract(epoch FROM %s) * 1000000)::text" % c if c in TIMES else
                 "encode(%s, 'hex')" % c if c in BYTES else c + "::text" for c in columns)
        yield from self.query(f"SELECT json_build_array({', '.join(texts)}) FROM {table} ORDER BY {order}")

    def query(self, *statements):
        """What one run of psql answers to statement after statement."""
        command = ["psql", "-Xq", "-v", "ON_ERROR_STOP=1"]
        for sql in statements:
            command += ["-c", f"COPY ({sql}) TO STDOUT (FORMAT csv, ENCODING 'UTF8', QUOTE E'\\x01', DELIMITER E'\\x02')"]
        psql = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        yield from map(json.loads, psql.stdout)
        if psql.wait():
            sys.exit("psql failed")

    def checkpoints(self):
        for number, sealed_at, jws, announced_by in self.rows(
                ["number", "sealed_at", "jws", "announced_by"], "audit.checkpoint", "number"):
            yield int(number), int(sealed_at), jws, announced_by

    def compare_tables(self):
        """What stands in broker must be what its history leaves; audit.unresolved what the rows leave."""
        tables = "SELECT to_json(relname) FROM pg_class WHERE relnamespace = 'broker'::regnamespace AND relkind = 'r'"
        comparisons = [f"""
                SELECT json_build_array('{table}', part.content::text, sum(part.sign)) FROM (
                    SELECT to_jsonb(t) AS content, 1 AS sign FROM broker."{table}" AS t
                    UNION ALL SELECT c.after, -1 FROM audit.config_change AS c
                     WHERE c.table_name = '{table}' AND c.after IS NOT NULL
                    UNION ALL SELECT c.before, 1 FROM audit.config_change AS c
                     WHERE c.table_name = '{table}' AND c.before IS NOT NULL) AS part
                GROUP BY part.content HAVING sum(part.sign) <> 0""" for table in self.query(tables)]
        for table, content, surplus in self.query(*comparisons):
            wrong(f"broker.{table} {'has' if surplus > 0 else 'lacks'} a row against its history: {content[:400]}")
        listed = set(self.query("SELECT to_json(mint_id) FROM audit.unresolved"))
        for mint in listed ^ open_mints:
            wrong(f"audit.unresolved {'lists' if mint in listed else 'does not list'} mint {mint}, against the rows")


class Export:
    """The log as it was exported: in any order, lines that come again once."""

    def __init__(self, files):
        self.lines = sqlite3.connect("")
        self.lines.execute("CREATE TABLE line (kind, chain, place, text, UNIQUE (kind, chain, place, text))")
        for file in files:
            try:
                for number, line in enumerate(open(file, "rb"), 1):
                    if not line.endswith(b"\n"):
                        print(f"note: {file} ends within a line, which counts for nothing")
                    elif not (key := self.key(line)):
                        wrong(f"there is something that no export wrote: line {number} of {file}")
                    else:
                        self.lines.execute("INSERT OR IGNORE INTO line VALUES (?, ?, ?, ?)", (*key, line))
            except OSError as e:
                sys.exit(f"{e.filename} can't be read ({e.strerror}), so nothing is proven")

    def key(self, line):
        """What a line is, of which chain and at which place; nothing for what no export writes."""
        try:
            row = members(line.decode())
            if "checkpoint" in row:
                fits = [row[m][0] for m in ("checkpoint", "sealed_at", "jws")] == ["number", "text", "text"]
                return ("checkpoint", "", int(row["checkpoint"][1])) if fits and TIME.fullmatch(row["sealed_at"][1]) else None
            event = "mint_id" in row
            if set(row) != {*(EVENT if event else CHANGE), "prev_hash", "hash"}:
                return None
            chain, place = row["chain" if event else "tenant"], row["seq" if event else "revision"]
            at = number(place[1]) if place[0] == "number" else -1
            return "event" if event else "change", json.dumps(chain[1] if chain[0] == "text" else None), at
        except (ValueError, KeyError, AttributeError, RecursionError):
            return None

    def rows(self, columns, table, order):
        kind = "event" if table == "audit.event" else "change"
        for text, in self.lines.execute("SELECT text FROM line WHERE kind = ? ORDER BY chain, place", (kind,)):
            row = members(text.decode())
            yield [stored(column, *row[column]) for column in columns]

    def checkpoints(self):
        last = 0
        for number, text in self.lines.execute(
                "SELECT place, text FROM line WHERE kind = 'checkpoint' ORDER BY place"):
            row = json.loads(text)
            if number == last:
                wrong(f"checkpoint {number} is in the export again, and differs")
            else:
                yield number, micros(row["sealed_at"]), row["jws"], row.get("announced_by")
            last = number

    def compare_tables(self):
        print("note: an export has no tables to be compared with their history")


def members(line):
    """The members of a JSON object as (form, text); of a number and a document the text that stands there."""
    found, at = {}, MEMBERS.match(line).end()
    while True:
        name, at = DECODER.raw_decode(line, at)
        at = COLON.match(line, at).end()
        value, end = DECODER.raw_decode(line, at)
        if name in found:
            raise ValueError(f"{name} is there twice")
        form = ("null" if value is None else "text" if isinstance(value, str) else "document"
                if isinstance(value, (dict, list)) else "number" if type(value) is int else "other")
        found[name] = form, value if form == "text" else line[at:end]
        separator = COMMA.match(line, end)
        if not separator:
            END.match(line, end).end()
            return found
        at = separator.end()


def no_constant(name):
    raise ValueError(name + " is no JSON")


DECODER = json.JSONDecoder(parse_constant=no_constant)
MEMBERS, COLON, COMMA, END = (re.compile(sign) for sign in (r"\s*\{\s*(?=\")", r"\s*:\s*", r"\s*,\s*(?=\")", r"\s*\}\s*$"))


def stored(column, form, text):
    """The text of an exported value as the database would give it; what it can't have given fits no hash."""
    if form == "null":
        return None
    wanted = "number" if column in NUMBERS else "document" if column in DOCUMENTS else "text"
    if form != wanted:
        return "\0" + text
    if column in TIMES:
        return str(micros(text)) if TIME.fullmatch(text) else "\0" + text
    if column in BYTES:
        return text[2:] if re.fullmatch(r"\\x([0-9a-f]{2})*", text) else "\0" + text
    return text


# ---------------------------------------------------------------- what is signed


def b64(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def thumbprint(point):
    x, y = (base64.urlsafe_b64encode(half).rstrip(b"=").decode() for half in (point[:32], point[32:]))
    jwk = f'{{"crv":"P-256","kty":"EC","x":"{x}","y":"{y}"}}'
    return base64.urlsafe_b64encode(hashlib.sha256(jwk.encode()).digest()).rstrip(b"=").decode()


def pem(point):
    return "-----BEGIN PUBLIC KEY-----\n%s-----END PUBLIC KEY-----\n" % base64.encodebytes(P256 + point).decode()


def signed(jws, point):
    """What a JWS says, if the key signed it. openssl wants the two numbers of the signature in DER."""
    header, body, signature = jws.split(".")
    if json.loads(b64(header)).get("alg") != "ES256" or len(b64(signature)) != 64:
        raise ValueError
    pair = b""
    for half in b64(signature)[:32], b64(signature)[32:]:
        number = int.from_bytes(half, "big")
        size = number.bit_length() // 8 + 1
        pair += b"\x02%c%s" % (size, number.to_bytes(size, "big"))
    with tempfile.NamedTemporaryFile() as key, tempfile.NamedTemporaryFile() as der:
        for file, content in (key, pem(point).encode()), (der, b"\x30%c%s" % (len(pair), pair)):
            file.write(content)
            file.flush()
        verify = ["openssl", "dgst", "-sha256", "-verify", key.name, "-signature", der.name]
        if subprocess.run(verify, input=f"{header}.{body}".encode(), capture_output=True).returncode:
            raise ValueError
    return json.loads(b64(body))


def opened(number, jws, announced_by):
    """What a checkpoint says, if a trusted key signed it; one that a trusted key announces is trusted from then on."""
    try:
        header = json.loads(b64(jws.split(".")[0]))
        if announced_by:
            announce(jws, announced_by, header, number)
        seal = signed(jws, trusted[header["kid"]])
        return seal if (seal["key"], seal["number"], seal["format"]) == (header["kid"], number, 1) else None
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def announce(jws, announced_by, header, number):
    try:
        before = json.loads(b64(announced_by.split(".")[0]))
        point = b64(header["jwk"]["x"]) + b64(header["jwk"]["y"])
        announcer = trusted.get(before["kid"], b64(before["jwk"]["x"]) + b64(before["jwk"]["y"]))
        seal = signed(announced_by, announcer)
        if (thumbprint(announcer) != before["kid"] or thumbprint(point) != header["kid"] or before["kid"] == header["kid"]
                or announced_by.split(".")[1] != jws.split(".")[1] or seal["key"] != header["kid"]):
            raise ValueError
        if before["kid"] in trusted:
            trusted.setdefault(header["kid"], point)
    except (ValueError, KeyError, TypeError, AttributeError):
        wrong(f"checkpoint {number} has an announcement of its key that doesn't hold")


TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(?:Z|\+00:00)")


def micros(time):
    """Microseconds since 1970 of a time such as 2026-03-01T12:00:00.123456Z."""
    seconds, fraction = TIME.fullmatch(time).groups()
    whole = datetime.fromisoformat(seconds + "+00:00") - EPOCH
    return whole // timedelta(seconds=1) * 1_000_000 + int((fraction or "0")[:6].ljust(6, "0"))


def canonical(form, columns, fields):
    texts = [form, *fields]
    if "client_address" in columns and texts[at := columns.index("client_address") + 1] is not None:
        try:
            inet = ipaddress.ip_interface(texts[at])
            texts[at] = f"{inet.packed.hex()}/{inet.network.prefixlen}"
        except ValueError:
            texts[at] = "\0"
    parts = (None if t is None else t.encode("utf-8", "surrogatepass") for t in texts)
    return b"".join(b"-," if part is None else b"%d:%s," % (len(part), part) for part in parts)


# ---------------------------------------------------------------- months that were retired


class Retired:
    """Rows that a checkpoint says were retired with a month, and what there is to doubt about that."""

    def __init__(self, number, digest, month):
        self.number, self.digest, self.name, self.rows = number, digest, month["month"], month["rows"]
        self.doubts, self.standing, self.kept = [], [], 0
        first = date.fromisoformat(month["month"] + "-01")
        self.after = (first + 31 * DAY).replace(day=1)
        self.first, self.end = first, (datetime(*self.after.timetuple()[:3], tzinfo=timezone.utc) - EPOCH) // timedelta(microseconds=1)

    def lasted(self, days):
        """The day before and the day after count too: rows wait for a commit, and that for a seal."""
        return all(self.first - DAY <= day <= self.after for day in days)


months, by_month, parts, sealed_on, latest = [], {}, defaultdict(list), defaultdict(list), -1


def retire(number, digest, seal):
    """Whoever has the key can write any time, so the one that is said has to fit, and the latest that was said before."""
    global latest
    at = micros(seal["sealed_at"])
    for earlier in months:
        if number > earlier.number and at < earlier.end:
            earlier.doubts.append(f"checkpoint {number}, which came later, is of before its end")
    latest = max(latest, at)
    day = tuple((EPOCH + timedelta(microseconds=time)).date() for time in (at, latest))
    for head in seal["events"]:
        days = sealed_on[head["chain"]]
        if not days or days[-1][0] < head["seq"]:
            if days and days[-1][1] == day:
                days.pop()
            days.append((head["seq"], day))
    for month in seal.get("retired", []):
        retired = Retired(number, digest, month)
        months.append(retired)
        if at < retired.end:
            retired.doubts.append("it was signed before its end")
        if at > (datetime.now(timezone.utc) + timedelta(hours=1) - EPOCH) // timedelta(microseconds=1):
            retired.doubts.append("it was signed at a time that hasn't come yet")
        if by_month.setdefault(retired.name, retired) is not retired:
            retired.doubts.append("it was retired already")
        if sum(part["last"] - part["first"] + 1 for part in month["parts"]) != retired.rows:
            retired.doubts.append("its numbers don't fit")
        for part in month["parts"]:
            if any(part["first"] <= p["last"] and p["first"] <= part["last"] for p, _ in parts[part["chain"]]):
                retired.doubts.append("it names rows twice")
            parts[part["chain"]].append((part, retired))


def judge_retired():
    for chain, all_parts in parts.items():
        for part, retired in all_parts:
            at = part["first"]
            while at <= part["last"]:
                upto, day = next(((u, d) for u, d in sealed_on[chain] if u >= at), (None, None))
                if day is None or not retired.lasted(day):
                    retired.doubts.append(f"row {at} of chain {chain} was first sealed {'/'.join(map(str, day)) if day else 'never'}")
                    break
                at = upto + 1
    for retired in months:
        sentence = f"{retired.name} was retired by checkpoint {retired.number}: {retired.rows} rows"
        if retired.doubts:
            declared(f"{sentence}; but {retired.doubts[0]}", retired.digest)
        else:
            print("note:", sentence)


def still_there(mint, chain, at, digest):
    """A row of a month that was retired: in a database none may be, in an export those that were retired as such."""
    part, by = next(((p, r) for p, r in parts.get(chain, ()) if p["first"] <= at <= p["last"]), (None, None))
    milliseconds = re.match("([0-9a-f]{8})-([0-9a-f]{4})-", mint or "")
    month = milliseconds and (EPOCH + timedelta(milliseconds=int("".join(milliseconds.groups()), 16))).strftime("%Y-%m")
    retired = by or by_month.get(month)
    if retired:
        fits = part and month == retired.name and (at != part["last"] or digest == part["hash"])
        if arguments.export and fits:
            retired.kept += 1
        else:
            retired.standing.append(f"row {at} of chain {chain}")


# ---------------------------------------------------------------- checkpoints and chains


def lenient(line):
    """A line of the broker's output, whatever it is."""
    try:
        copy = json.loads(line)
        return copy if type(copy.get("checkpoint")) is int and isinstance(copy.get("jws"), str) else None
    except (ValueError, AttributeError):
        return None


def named(number, digest):
    return next((d for d in declarations if {"number": number, "hash": digest} in d["checkpoints"]), None)


def lost(declaration, kind, chain, head):
    place = "seq" if kind == "event" else "revision"
    return declaration and any(
        end[chain] == head[chain] and end["first"] <= head[place] <= end["last"]
        for d in declarations for end in d[kind + "s"])


def seal_heads(sealed, number, seal, declaration=None):
    for kind, chain, place in ("event", "chain", "seq"), ("change", "tenant", "revision"):
        for head in seal[kind + "s"]:
            if not lost(declaration, kind, chain, head):
                if sealed[kind, head[chain]].setdefault(head[place], head["hash"]) != head["hash"]:
                    wrong(f"checkpoint {number} sealed another row {head[place]} of {kind} chain {head[chain]}")


def checkpoints(kept):
    """What was sealed, as (kind, chain) -> {place: hash}, and how many checkpoints hold."""
    sealed, digests, foreign, before, held, last, time = defaultdict(dict), {}, [], None, 0, 0, None
    ahead = (datetime.now(timezone.utc) + timedelta(hours=1) - EPOCH) // timedelta(microseconds=1)
    for number, sealed_at, jws, announced_by in log.checkpoints():
        digests[number] = digest = hashlib.sha256(jws.encode()).hexdigest()
        seal = opened(number, jws, announced_by)
        if not seal:
            foreign.append((number, digest))
        else:
            if micros(seal["sealed_at"]) != sealed_at:
                wrong(f"checkpoint {number} was sealed at {seal['sealed_at']}, and its row says otherwise")
            if (seal["previous"], number) != (before, last + 1):
                wrong(f"checkpoint {number} doesn't follow the one before it")
            if "declared" in seal:
                declarations.append(seal["declared"])
                declared(f"checkpoint {number} declares checkpoints "
                         f"{[c['number'] for c in seal['declared']['checkpoints']][:20]} lost or foreign, and the ends of "
                         f"{len(seal['declared']['events'])} + {len(seal['declared']['changes'])} chains lost: "
                         f"{seal['declared']['reason']}", digest)
            if sealed_at > ahead:
                print(f"note: checkpoint {number} says that it is of {seal['sealed_at']}, which hasn't come yet")
            elif time is not None and sealed_at + HOUR < time <= ahead:
                print(f"note: the checkpoint before number {number} says that it is of a later time than {seal['sealed_at']}")
            time = sealed_at
            retire(number, digest, seal)
            seal_heads(sealed, number, seal)
            held += 1
        before, last = digest, number
    for number, digest in foreign:
        if not named(number, digest):
            wrong(f"checkpoint {number} is not signed by a trusted key")
    if not held:
        wrong("there is no checkpoint that holds, so nothing is proven")
    copies = [copy for line in kept or [] if '"checkpoint"' in line and (copy := lenient(line))]
    if kept is not None and not copies:
        wrong(f"{arguments.kept} holds no checkpoint, so nothing is proven with it")
    for copy in copies:
        number, digest = copy["checkpoint"], hashlib.sha256(copy["jws"].encode()).hexdigest()
        if digests.get(number) != digest:
            declaration = named(number, digest)
            sentence = f"checkpoint {number}, as it was kept, isn't in the {'export' if arguments.export else 'database'}"
            if arguments.export and not declaration and number > last:
                sentence += (f", which ends with number {last}: it is older and has to be continued, its end was cut off, "
                             "or the log itself lost it" if last else ", which has no checkpoint at all: write it with --all")
            print("note:", sentence + "; that was declared") if declaration else wrong(sentence)
            seal = opened(number, copy["jws"], copy.get("announced_by"))
            if not seal:
                wrong(f"checkpoint {number}, as it was kept, is not signed by a trusted key")
                continue
            if not declaration:
                retire(number, digest, seal)
            seal_heads(sealed, number, seal, declaration)
    judge_retired()
    return sealed, held


def chains(kind, columns, table, chain, place, sealed):
    """Follows every chain of a table row by row; what was sealed and is there is taken out of `sealed`."""
    now, at, last, count, open_end = None, 0, "", 0, 0
    ends = {chain: max(heads, default=0) for chain, heads in sealed.items()}
    for count, row in enumerate(log.rows(columns + ["prev_hash", "hash"], table, f"{chain}, {place}"), 1):
        *fields, previous, digest = row
        key = kind, fields[columns.index(chain)]
        now, at, last = (key, at + 1, last) if key == now else (key, 1, "00" * 32)
        while kind == "event" and (gone := covering(key[1], at, fields[columns.index(place)])):
            at, last = gone
        name = f"{kind} {fields[:2]} of chain {key[1]}"
        if kind == "event" and key[1] is None:
            wrong(f"{name} is in no chain")
        elif fields[columns.index(place)] != str(at):
            wrong(f"{name} stands where row {at} belongs")
            at = number(fields[columns.index(place)])
        elif previous != last:
            wrong(f"{name} doesn't follow the row before it")
        form = canonical(f"mintmark {kind} 1", columns, fields)
        if digest != hashlib.sha256(hex_bytes(previous) + form).hexdigest():
            wrong(f"{name} was changed")
        if sealed.get(key, {}).pop(at, digest) != digest:
            wrong(f"{name} isn't the row that was sealed")
        if kind == "event":
            note_mint(fields)
            still_there(fields[0], key[1], at, digest)
        open_end += at > ends.get(key, 0)
        last = digest
    return count, open_end


def covering(chain, at, there):
    """Past which rows that were retired the next row stands, and the hash that it hangs on."""
    for part, _ in parts.get(chain, ()):
        if part["first"] <= at <= part["last"] and number(there) > part["last"]:
            return part["last"] + 1, part["hash"]


def number(text):
    return int(text) if re.fullmatch("[0-9]{1,18}", text or "") else 0


def hex_bytes(text):
    return bytes.fromhex(text) if re.fullmatch("([0-9a-f]{2})*", text or "") else b"\0"


open_mints, ended_mints = set(), set()


def note_mint(fields):
    """Halves of mints, which mostly stand close to each other."""
    mint, kind = fields[0], fields[2]
    mine, others = (open_mints, ended_mints) if kind == "requested" else (ended_mints, open_mints)
    if kind not in ("denied", "rejected"):
        others.discard(mint) if mint in others else mine.add(mint)


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("keys", metavar="trusted.pem", help="the public keys to trust")
parser.add_argument("kept", nargs="?", metavar="kept.jsonl", help="checkpoints that were kept elsewhere")
parser.add_argument("--export", nargs="+", default=[], metavar="FILE", help="an export, instead of a database; put it last")
parser.add_argument("--accept-gap", action="append", default=[], metavar="HASH", help="a declaration to accept, by its hash")
arguments = parser.parse_args()
try:
    key_text = open(arguments.keys).read()
    kept_lines = open(arguments.kept, encoding="latin-1").readlines() if arguments.kept else None
except OSError as e:
    sys.exit(f"{e.filename} can't be read ({e.strerror}), so nothing is proven")
trusted = {}
for block in re.findall("-----BEGIN PUBLIC KEY-----(.*?)-----END PUBLIC KEY-----", key_text, re.S):
    der = base64.b64decode(block)
    if not der.startswith(P256) or len(der) != len(P256) + 64:
        sys.exit(f"{arguments.keys} holds a key that isn't P-256")
    trusted[thumbprint(der[len(P256):])] = der[len(P256):]
if not trusted:
    sys.exit(f"{arguments.keys} holds no public key, so nothing can be proven")
log = Export(arguments.export) if arguments.export else Database()
seals, held = checkpoints(kept_lines)
events, fresh_events = chains("event", EVENT, "audit.event", "chain", "seq", seals)
changes, fresh_changes = chains("change", CHANGE, "audit.config_change", "tenant", "revision", seals)
for (kind, chain), heads in seals.items():
    for at in heads:
        if not any(kind == "event" and p["first"] <= at <= p["last"] for p, _ in parts.get(chain, ())):
            wrong(f"row {at} of {kind} chain {chain} was sealed and is missing")
for retired in months:
    if retired.kept:
        print(f"note: {retired.kept} of the {retired.rows} rows that were retired with {retired.name} are here")
    if retired.standing:
        wrong(f"{retired.name} was retired by checkpoint {retired.number}, and {len(retired.standing)} rows that it took "
              f"out of the log or that are of that month stand in it, one of them {retired.standing[0]}")
log.compare_tables()
print(f"{events} events and {changes} changes under {held} checkpoints, "
      f"{fresh_events + fresh_changes} of them under none yet, {len(problems)} problems, {len(unaccepted)} declarations")
sys.exit(1 if problems else 3 if unaccepted else 0)
