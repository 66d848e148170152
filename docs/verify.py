#!/usr/bin/env python3
"""Checks Mintmark's audit log without Mintmark: standard library, openssl and psql.
docs/reference/audit-log-format.md describes the format.

    PGHOST=… PGDATABASE=… PGUSER=auditor python3 verify.py trusted.pem [kept.jsonl] [--accept-gap HASH]…
    python3 verify.py trusted.pem [kept.jsonl] --export log.jsonl… [--accept-gap HASH]…
    python3 verify.py --receipt receipt.json [--key trusted.pem] [--kept kept.jsonl] [--policy policy]

trusted.pem: P-256 public keys; kept.jsonl: checkpoints that were kept elsewhere; --export: what `audit export --all`
wrote as jsonl, instead of a database; --cell-keys FILE: keys of cells from which tenants came; --policy FILE: the
witnesses that must have cosigned the log (c2sp.org/tlog-policy). Exits with 1 if anything is wrong, also if there is nothing to prove anything with: no key, no checkpoint that holds, none in
kept.jsonl; with 3 if nothing is wrong but what somebody with the signing key declared, or what is doubtful, unless
that is accepted by its hash.
"""
import argparse, base64, bisect, hashlib, ipaddress, json, os, re, sqlite3, subprocess, sys, tempfile
from collections import defaultdict
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal

EVENT = """mint_id step kind occurred_at request_id tenant idp issuer subject key provider provider_type grant_id
    grant_revision shared_revision config_hash reason detail credential_id issued_at expires_at token_id token_hash
    claims actor_idp actor_issuer actor actor_claims actor_token_id actor_token_hash client_address user_agent broker chain
    seq""".split()
CHANGE = "tenant revision table_name operation before after changed_by changed_at transaction_id".split()
TIMES = {"occurred_at", "issued_at", "expires_at", "changed_at", "sealed_at"}
BYTES = {"token_hash", "actor_token_hash", "config_hash", "prev_hash", "hash"}
NUMBERS = {"step", "grant_id", "grant_revision", "shared_revision", "seq", "revision", "transaction_id"}
DOCUMENTS = {"claims", "actor_claims", "before", "after"}
EPOCH, DAY, HOUR, MINUTE = datetime(1970, 1, 1, tzinfo=timezone.utc), timedelta(days=1), 3_600_000_000, 60_000_000
SLACK = 2 * MINUTE  # how much longer than its limits a requested credential may be expected to live
CLOCKS = MINUTE // 2  # what the clocks of a broker and of its database may differ by
OUTSIDE = 5 * MINUTE  # what the clock of a witness may be behind those of brokers and of their database
GRACE = HOUR  # how long checkpoints may wait for the policy's quorum
LATE = 2 * MINUTE  # checkpoints come every minute, and brokers mint with a clock that is within 30 seconds
P256 = bytes.fromhex("3059301306072a8648ce3d020106082a8648ce3d03010703420004")
ED25519 = bytes.fromhex("302a300506032b6570032100")
LONGEST_LINE, LONGEST_NAME, DEEPEST, MOST_PIECES, MOST_OPEN = 4 * 1024 * 1024, 128, 1_000, 1_000, 8
MOST_SHOWN, MOST_OPEN, MOST_BLOCKS, MOST_KEPT = 1_000, 100_000, 10_000, 10_000
STEPS = 250_000  # what a decision on a tenant's rules may cost; a step is about a character
arguments, trusted, cells, log, part, witnesses = None, {}, {}, None, None, None
latest_change, departure = (None, None), None
declarations, unaccepted, problems = [], [], 0
sys.setrecursionlimit(20_000)


def say(*texts):
    """Prints a line, whatever its content: a character that can't be seen as its number, a backslash as two."""
    line = " ".join(map(str, texts))[:2_000]
    print("".join("\\\\" if c == "\\" else c if c.isprintable() else f"\\u{ord(c):04x}" for c in line))


def wrong(what):
    global problems
    problems += 1
    if problems <= MOST_SHOWN:
        say("WRONG:", what)


def declared(what, digest, title="DECLARED:"):
    known = digest in arguments.accept_gap
    unaccepted.extend([] if known else [digest])
    if len(unaccepted) <= MOST_SHOWN:
        say("accepted:" if known else title, what, "" if known else f"(--accept-gap {digest})")


def doubtful(what, digest):
    declared(what, digest, "DOUBT:")


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
        # names without a schema are PostgreSQL's own, whatever search path the owner gives to the login
        options = os.environ.get("PGOPTIONS", "") + " -c search_path=pg_catalog,pg_temp"
        psql = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                env={**os.environ, "PGOPTIONS": options})
        yield from map(json.loads, psql.stdout)
        if psql.wait():
            sys.exit("psql failed; its message is above")

    def checkpoints(self):
        for number, sealed_at, *texts in self.rows(
                ["number", "sealed_at", "jws", "announced_by", "note"], "audit.checkpoint", "number"):
            yield int(number), int(sealed_at), *texts

    def cosignatures(self):
        for tree, size, line in self.rows(["tree", "size", "line"], "audit.cosignature", "tree, size, witness"):
            yield int(tree), int(size), line

    def compare_tables(self):
        """What stands in broker must be what its history leaves; audit.unresolved what the rows leave."""
        tables = """SELECT to_json(c.relname) FROM pg_class AS c WHERE c.relnamespace = 'broker'::regnamespace AND
                    (c.relkind IN ('r', 'p', 'f') OR c.relkind IN ('v', 'm')
                     AND EXISTS (SELECT FROM audit.config_change AS h WHERE h.table_name = c.relname))"""
        comparisons = [f"""
                WITH given AS MATERIALIZED (  -- a change from before a column was added has null in it
                    SELECT coalesce(jsonb_object_agg(a.attname, 'null'::jsonb), '{{}}') AS content FROM pg_attribute AS a
                     WHERE a.attrelid = 'broker."{table}"'::regclass AND a.attnum > 0 AND NOT a.attisdropped)
                SELECT json_build_array('{table}', part.content::text, sum(part.sign)) FROM (
                    SELECT to_jsonb(t) AS content, 1 AS sign FROM broker."{table}" AS t
                    UNION ALL SELECT g.content || c.after, -1 FROM audit.config_change AS c CROSS JOIN given AS g
                     WHERE c.table_name = '{table}' AND c.after IS NOT NULL
                    UNION ALL SELECT g.content || c.before, 1 FROM audit.config_change AS c CROSS JOIN given AS g
                     WHERE c.table_name = '{table}' AND c.before IS NOT NULL) AS part
                GROUP BY part.content HAVING sum(part.sign) <> 0""" for table in self.query(tables)
                       if re.fullmatch("[a-z_][a-z0-9_]*", table) or wrong(f"broker has a table named {table}")]
        for table, content, surplus in self.query(*comparisons):
            wrong(f"broker.{table} {'has a row that is not' if surplus > 0 else 'lacks a row that is'} in its history: {content[:400]}")
        if too_many_open:
            say(f"note: audit.unresolved was not checked, because more than {MOST_OPEN} mints have no outcome")
            return
        listed = set(self.query("SELECT to_json(mint_id) FROM audit.unresolved"))
        for mint in listed ^ open_mints:
            wrong(f"audit.unresolved lists mint {mint}, which has an outcome or was never requested" if mint in listed
                  else f"audit.unresolved doesn't list mint {mint}, which has no outcome")


class Export:
    """The log as it was exported: in any order, lines that come again once. A row's lines come by their SHA-256."""

    def __init__(self, files):
        self.lines = sqlite3.connect("")
        self.lines.execute("CREATE TABLE line (kind, chain, place INTEGER, digest, text, UNIQUE (kind, chain, place, digest))")
        for file in files:
            try:
                with open(file, "rb") as lines:
                    self.read(file, lines)
            except OSError as e:
                sys.exit(f"{e.filename} can't be read ({e.strerror}), so nothing is proven")

    def read(self, file, lines):
        number = 0
        while line := lines.readline(LONGEST_LINE + 1):
            number += 1
            whole = line.endswith(b"\n")
            if not whole and len(line) > LONGEST_LINE:
                while rest := lines.readline(LONGEST_LINE):
                    if whole := rest.endswith(b"\n"):
                        wrong(f"a line has more than {LONGEST_LINE} bytes, the limit for a line of an export: line {number} of {file}")
                        break
            elif whole:
                self.add(line[:-1], f"line {number} of {file}")
            if not whole:
                say(f"note: {file} ends with an incomplete line, which is ignored")

    def add(self, line, origin):
        global part
        if header := re.fullmatch(rb'\{"part":\{"after":([0-9]{1,18}),"up_to":([0-9]{1,18})\}\}', line):
            found = tuple(map(int, header.groups()))
            if part not in (None, found):
                wrong("the files are different parts of a log; verify each separately")
            part = found
        elif key := self.key(line):
            digest = hashlib.sha256(line).digest()
            self.lines.execute("INSERT OR IGNORE INTO line VALUES (?, ?, ?, ?, ?)", (*key, digest, line))
        else:
            wrong(f"this line doesn't have the format of an export: {origin}")

    def key(self, line):
        """What a line is, of which chain and at which place; nothing for what no export writes."""
        try:
            row = members(line.decode())
            if "checkpoint" in row:
                fits = [row[m][0] for m in ("checkpoint", "sealed_at", "jws")] == ["number", "text", "text"]
                fits = fits and b'"checkpoint"' in line and re.fullmatch("[1-9][0-9]{0,17}", row["checkpoint"][1])
                if not fits:
                    return None
                micros(row["sealed_at"][1])
                return "checkpoint", "", int(row["checkpoint"][1])
            if "cosignature" in row:
                numbers, texts = ("cosignature", "tree", "size"), ("witness", "line", "received_at")
                fits = set(row) == {*numbers, *texts} and all(row[m][0] == "text" for m in texts)
                fits = fits and all(row[m][0] == "number" and re.fullmatch("[1-9][0-9]{0,17}", row[m][1]) for m in numbers)
                if not fits:
                    return None
                micros(row["received_at"][1])
                return "cosignature", "", int(row["cosignature"][1])
            event = "mint_id" in row
            columns = {*(EVENT if event else CHANGE), "prev_hash", "hash"}
            chain, place = row.get("chain" if event else "tenant", ("null", "")), row.get("seq" if event else "revision")
            if set(row) != columns:
                return None
            for column in columns:
                stored(column, *row[column])
            name = chain[1] if chain[0] == "text" else None
            if name is not None and len(name) > LONGEST_NAME:
                return None
            at = number(place[1]) if place[0] == "number" and number(place[1]) is not None else -1
            return "event" if event else "change", json.dumps(name), at
        except BAD:
            return None

    def rows(self, columns, table, order):
        kind = "event" if table == "audit.event" else "change"
        for text, in self.lines.execute("SELECT text FROM line WHERE kind = ? ORDER BY chain, place, digest", (kind,)):
            row = members(text.decode())
            yield [stored(column, *row.get(column, ("null", ""))) for column in columns]

    def checkpoints(self):
        last = 0
        for number, text in self.lines.execute(
                "SELECT place, text FROM line WHERE kind = 'checkpoint' ORDER BY place, digest"):
            row = json.loads(text)
            if number == last:
                wrong(f"checkpoint {number} is in the export twice, with different content")
            else:
                texts = (row.get(member) for member in ("announced_by", "note"))
                yield number, micros(row["sealed_at"]), row["jws"], *(text if isinstance(text, str) else None for text in texts)
            last = number

    def cosignatures(self):
        for text, in self.lines.execute("SELECT text FROM line WHERE kind = 'cosignature'"):
            row = json.loads(text)
            yield row["tree"], row["size"], row["line"]

    def compare_tables(self):
        say("note: an export has no tables to be compared with their history")


class Token(str):
    """A number's text, which may be longer than Python would parse."""


class Whole(Token):
    """A number without fraction and exponent."""


def no_constant(name):
    raise ValueError(name + " is not JSON")


DECODER = json.JSONDecoder(parse_constant=no_constant, parse_int=Whole, parse_float=Token)
MEMBERS, COLON, COMMA, END = (re.compile(sign) for sign in (
    r"[ \t\r\n]*\{[ \t\r\n]*(?=\")", r"[ \t\r\n]*:[ \t\r\n]*", r"[ \t\r\n]*,[ \t\r\n]*(?=\")", r"[ \t\r\n]*\}[ \t\r\n]*\Z"))
TEXT = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)')  # to the end, if it isn't closed: else each quote would be tried


def too_deep(line):
    """Whether brackets are nested deeper than in any column."""
    if line.count("[") + line.count("{") <= DEEPEST:
        return False
    depth = 0
    for sign in re.findall(r"[\[\]{}]", TEXT.sub("", line)):
        depth += 1 if sign in "[{" else -1
        if depth > DEEPEST:
            return True
    return False


def members(line):
    """The members of a JSON object as (form, text); for a number or a document its text."""
    if too_deep(line):
        raise ValueError("nested too deep")
    found, at = {}, MEMBERS.match(line).end()
    while True:
        name, at = DECODER.raw_decode(line, at)
        at = COLON.match(line, at).end()
        value, end = DECODER.raw_decode(line, at)
        if name in found:
            raise ValueError(f"{name} is there twice")
        (name + (value if isinstance(value, str) else "")).encode()  # half a surrogate has no bytes
        form = ("null" if value is None else "number" if isinstance(value, Whole) else "other" if isinstance(value, (Token, bool))
                else "text" if isinstance(value, str) else "document")
        found[name] = form, value if form == "text" else line[at:end]
        separator = COMMA.match(line, end)
        if not separator:
            END.match(line, end).end()
            return found
        at = separator.end()


def stored(column, form, text):
    """The text of an exported value as the database would give it; a ValueError for what it can't have written."""
    if form == "null":
        return None
    if form != ("number" if column in NUMBERS else "document" if column in DOCUMENTS else "text"):
        raise ValueError(f"{column} is no {form}")
    if column in TIMES:
        try:
            return str(micros(text))
        except ValueError:
            return "\0" + text  # such as infinity, which fits no hash that the database made
    if "\0" in text:
        raise ValueError("PostgreSQL holds no such character")
    if column in BYTES:
        if len(text) % 2 or not re.fullmatch(r"\\x[0-9a-f]*", text):
            raise ValueError("not hexadecimal")
        return text[2:]
    if column == "client_address":
        address(text)
    return text


OCTETS = r"(0|[1-9][0-9]{0,2})([.](0|[1-9][0-9]{0,2})){3}"


def address(text):
    """The canonical text of an address; programs take more for one than PostgreSQL ever writes."""
    plain, _, prefix = text.partition("/")
    *groups, last = plain.split(":")
    if (not all(re.fullmatch("[0-9a-f]{0,4}", group) for group in groups)
            or not (re.fullmatch(OCTETS, last) or groups and re.fullmatch("[0-9a-f]{0,4}", last))
            or "/" in text and not re.fullmatch("0|[1-9][0-9]{0,2}", prefix)):
        raise ValueError("no address")
    inet = ipaddress.ip_interface(text)
    return f"{inet.packed.hex()}/{inet.network.prefixlen}"


# ---------------------------------------------------------------- what is signed


def b64(text):
    raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if base64.urlsafe_b64encode(raw).rstrip(b"=").decode() != text:
        raise ValueError("not canonical")
    return raw


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
    b64(body)
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


BAD = ValueError, KeyError, TypeError, AttributeError, RecursionError


def opened(number, jws, announced_by):
    """What a checkpoint says, if a trusted key signed it; one that a trusted key announces is trusted from then on."""
    try:
        header = json.loads(b64(jws.split(".")[0]))
        if announced_by is not None:
            announce(jws, announced_by, header, number)
        seal = signed(jws, trusted[header["kid"]])
        fits = (seal["key"], seal["number"]) == (header["kid"], number) and (seal["format"] == 1 or has_tree(seal))
        return seal if fits else None
    except BAD:
        return None


def has_tree(seal):
    """Whether a checkpoint of format 2 names its root, and for each head which rows the tree has."""
    heads = [(head["first"], head["seq"]) for head in seal["events"]] + [(head["first"], head["revision"]) for head in seal["changes"]]
    return (seal["format"] == 2 and re.fullmatch("[0-9a-f]{64}", seal["root"]) is not None
            and all(type(first) is int and type(at) is int and 1 <= first <= at for first, at in heads))


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
    except BAD:
        wrong(f"checkpoint {number} has an invalid announcement of its key")


TIME = re.compile(r"((?!0000)\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):\d\d:\d\d)(?:\.(\d{1,9}))?(?:Z|\+00:00)", re.ASCII)


def micros(time, digits=6):
    """Microseconds since 1970 of a time such as 2026-03-01T12:00:00.123456Z; a ValueError for what is none."""
    parts = TIME.fullmatch(time)
    if not parts or len(parts[2] or "") > digits:
        raise ValueError("no time")
    whole = datetime.fromisoformat(parts[1] + "+00:00") - EPOCH
    return whole // timedelta(seconds=1) * 1_000_000 + int((parts[2] or "0")[:6].ljust(6, "0"))


def now():
    return (datetime.now(timezone.utc) - EPOCH) // timedelta(microseconds=1)


def ago(time):
    seconds = max(0, (now() - time) // 1_000_000)
    for size, unit in (86_400, "day"), (3_600, "hour"), (60, "minute"):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}s ago"
    return f"{seconds} seconds ago"


def canonical(form, columns, fields):
    texts = list(fields)
    if "client_address" in columns and texts[at := columns.index("client_address")] is not None:
        try:
            texts[at] = address(texts[at])
        except ValueError:
            texts[at] = "\0"
    return netstrings([form, *texts])


def netstrings(texts):
    parts = (None if t is None else t.encode("utf-8", "surrogatepass") for t in texts)
    return b"".join(b"-," if part is None else b"%d:%s," % (len(part), part) for part in parts)


# ---------------------------------------------------------------- months that were retired


class Retired:
    """Rows that a checkpoint says were retired with a month, and what is doubtful about that."""

    def __init__(self, number, digest, month):
        self.number, self.digest, self.name, self.rows = number, digest, month["month"], month["rows"]
        self.doubts, self.standing, self.first_standing, self.kept = [], 0, "", 0
        first = date.fromisoformat(month["month"] + "-01")
        self.after = (first + 31 * DAY).replace(day=1)
        self.first, self.end = first, (datetime(*self.after.timetuple()[:3], tzinfo=timezone.utc) - EPOCH) // timedelta(microseconds=1)

    def lasted(self, days):
        """The day before and the day after count too: rows wait for a commit, and that for a seal."""
        return all(self.first - DAY <= day <= self.after for day in days)


months, by_month, parts, sealed_on, latest = [], {}, defaultdict(list), defaultdict(list), -1


def retire(number, digest, seal):
    """The owner of the key can write any time, so it must agree with the latest time before it."""
    global latest
    at = micros(seal["sealed_at"], 9)
    if part:
        if seal.get("retired"):
            declared(f"checkpoint {number} retired {[m['month'] for m in seal['retired']]}. A part of the log can't prove that; verify the whole log", digest)
        for month in seal.get("retired", []):
            for rows in month["parts"]:
                parts[rows["chain"]].append((rows, None))
        return
    for earlier in months:
        if number > earlier.number and at < earlier.end:
            earlier.doubts.append(f"the later checkpoint {number} is dated before the month's end")
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
            retired.doubts.append("the checkpoint was signed before the month was over")
        if at > now() + HOUR:
            retired.doubts.append("the checkpoint was signed at a time in the future")
        if by_month.setdefault(retired.name, retired) is not retired:
            retired.doubts.append("an earlier checkpoint already retired the month")
        if sum(rows["last"] - rows["first"] + 1 for rows in month["parts"]) != retired.rows:
            retired.doubts.append("the checkpoint lists another number of rows than it counts")
        for rows in month["parts"]:
            if any(rows["first"] <= p["last"] and p["first"] <= rows["last"] for p, _ in parts[rows["chain"]]):
                retired.doubts.append("the checkpoint lists rows twice")
            parts[rows["chain"]].append((rows, retired))


def judge_retired():
    for chain, all_parts in parts.items():
        for rows, retired in all_parts if months else ():
            at = rows["first"]
            while at <= rows["last"]:
                upto, day = next(((u, d) for u, d in sealed_on[chain] if u >= at), (None, None))
                if day is None or not retired.lasted(day):
                    retired.doubts.append(f"row {at} of chain {chain} was first sealed {'/'.join(map(str, day))}, outside the month" if day
                                          else f"row {at} of chain {chain} was never sealed")
                    break
                at = upto + 1
    for retired in months:
        sentence = f"{retired.name} was retired by checkpoint {retired.number}: {retired.rows} rows"
        if retired.doubts:
            declared(f"{sentence}; but {retired.doubts[0]}", retired.digest)
        else:
            say("note:", sentence)


def still_there(mint, chain, at, digest):
    """A row of a retired month: invalid in a database; valid in an export only if it was retired."""
    rows, by = next(((p, r) for p, r in parts.get(chain, ()) if p["first"] <= at <= p["last"]), (None, None))
    milliseconds = re.match("([0-9a-f]{8})-([0-9a-f]{4})-", mint or "")
    month = None
    if months and milliseconds:
        try:
            month = (EPOCH + timedelta(milliseconds=int("".join(milliseconds.groups()), 16))).strftime("%Y-%m")
        except OverflowError:
            pass
    retired = by or by_month.get(month)
    if retired:
        fits = rows and month == retired.name and (at != rows["last"] or digest == rows["hash"])
        if arguments.export and fits:
            retired.kept += 1
        else:
            retired.standing += 1
            retired.first_standing = retired.first_standing or f"row {at} of chain {chain}"


# ---------------------------------------------------------------- checkpoints


def lenient(line):
    """A line of the broker's output, whatever it is."""
    try:
        copy = json.loads(line, parse_constant=no_constant)
        micros(copy["sealed_at"])
        fits = type(copy["checkpoint"]) is int and 0 < copy["checkpoint"] < 10**18 and isinstance(copy["jws"], str)
        return copy if fits else None
    except BAD:
        return None


def kept_copies(file):
    """The checkpoints in a broker's output. A long one is in pieces: lines whose texts, joined, are its line."""
    open_pieces = {}
    with open(file, encoding="latin-1") as lines:
        while line := lines.readline(LONGEST_LINE + 1):
            if '"piece"' in line:
                line = joined(line, open_pieces)
            copy = lenient(line) if line and '"checkpoint"' in line else None
            if copy:
                yield copy


def joined(line, open_pieces):
    """The line of the checkpoint whose last missing piece this is."""
    try:
        piece = json.loads(line, parse_constant=no_constant)
        number, count, digest, text = (piece[m] for m in ("piece", "pieces", "hash", "text"))
        if not (type(number) is type(count) is int and 1 <= number <= count <= MOST_PIECES and isinstance(text, str)):
            return None
        pieces = open_pieces.setdefault(digest, (count, {}))
        if pieces[0] != count:
            return None
        pieces[1][number] = text
        if len(pieces[1]) < count:
            if len(open_pieces) > MOST_OPEN:
                del open_pieces[next(iter(open_pieces))]
            return None
        del open_pieces[digest]
        whole = "".join(pieces[1][at] for at in range(1, count + 1))
        return whole if hashlib.sha256(json.loads(whole)["jws"].encode("latin-1", "replace")).hexdigest() == digest else None
    except BAD:
        return None


def named(number, digest):
    return next((d for d in declarations if {"number": number, "hash": digest} in d["checkpoints"]), None)


def lost(declaration, kind, chain, head):
    place = "seq" if kind == "event" else "revision"
    return declaration and any(
        end[chain] == head[chain] and end["first"] <= head[place] <= end["last"]
        for d in declarations for end in d[kind + "s"])


excused, declared_since = defaultdict(list), []  # chain: rows that may be missing; the first checkpoint from after each loss


def excuse():
    """Rows that were declared lost may be missing, also in the middle of a chain: beyond what was sealed before the loss."""
    for declaration, since in zip(declarations, declared_since):
        for end in declaration["events"]:
            before = past.execute("SELECT max(at) FROM head WHERE kind = 'event' AND chain = ? AND number < ?",
                                  (end["chain"], since)).fetchone()[0] or 0
            excused[end["chain"]].append((max(end["first"], before + 1), end["last"]))


def is_excused(chain, at):
    return any(first <= at <= last for first, last in excused.get(chain, ()))


def in_part(number):
    return part is None or part[0] < number <= part[1]


def seal_heads(sealed, number, seal, declaration=None, since=None):
    """What a checkpoint sealed; since: when what it is the first to seal wasn't committed yet."""
    for kind, chain, place in ("event", "chain", "seq"), ("change", "tenant", "revision"):
        for head in seal[kind + "s"]:
            if not lost(declaration, kind, chain, head):
                key, at = (kind, head[chain]), head[place]
                past.execute("INSERT INTO head VALUES (?, ?, ?, ?, ?)", (kind, head[chain] or "", at, number, since))
                if kind == "event" and not in_part(number):
                    starts[head[chain]] = max(starts.get(head[chain], (0, "00" * 32)), (at, head["hash"]))
                elif sealed[key].setdefault(at, head["hash"]) != head["hash"]:
                    wrong(f"checkpoint {number} sealed a different hash for row {at} of {kind} chain {head[chain]}")


starts = {}  # where the chains of a part begin: the row before, and its hash


def missing(known, upto):
    """Reports checkpoints that aren't there. A part has only some from before it."""
    known = max(known, part[0] - 1 if part else 0)
    for gone in range(known + 1, min(upto, known + 4)):
        wrong(f"checkpoint {gone} is missing")


def checkpoints(kept):
    """What was sealed, as (kind, chain) -> {place: hash}; how many checkpoints hold, and the last one's number and time."""
    notes, sealed, digests, foreign, count, before, held, last, time = Notes(), defaultdict(dict), {}, [], 0, None, 0, 0, None
    for number, sealed_at, jws, announced_by, note in log.checkpoints():
        digests[number] = digest = hashlib.sha256(jws.encode("utf-8", "surrogatepass")).hexdigest()
        if witnesses:
            witnesses.sealed(number, sealed_at, digest)
        notes.judge(number, jws, note, sealed_at)
        if part and number > part[1]:
            wrong(f"checkpoint {number} comes after the last checkpoint of the part")
            continue
        missing(last, number)
        follows = last == number - 1
        seal = opened(number, jws, announced_by)
        if not seal:
            count += 1
            foreign.extend([(number, digest)] if count <= MOST_KEPT else [])
        else:
            if micros(seal["sealed_at"], 9) != sealed_at:
                wrong(f"checkpoint {number} was sealed at {seal['sealed_at']}, but its row has another time")
            if follows and seal["previous"] != before:
                wrong(f"checkpoint {number} doesn't follow the one before it")
            if "declared" in seal:
                gone = [c["number"] for c in seal["declared"]["checkpoints"]]
                declarations.append(seal["declared"])
                declared_since.append(min([*gone, number]))
                declared(f"checkpoint {number} declares checkpoints "
                         f"{[c['number'] for c in seal['declared']['checkpoints']][:20]} lost or foreign, and the ends of "
                         f"{len(seal['declared']['events'])} + {len(seal['declared']['changes'])} chains lost: "
                         f"{seal['declared']['reason']}", digest)
            if sealed_at > now() + HOUR:
                say(f"note: checkpoint {number} is dated {seal['sealed_at']}, which is in the future")
            elif time is not None and sealed_at + HOUR < time <= now() + HOUR:
                say(f"note: the checkpoint before number {number} is dated later than {seal['sealed_at']}")
            known = time is not None and follows and in_part(number)
            since, time = min(time, sealed_at) if known else None, sealed_at
            retire(number, digest, seal)
            seal_heads(sealed, number, seal, since=since)
            note_tree(number, seal)
            held += 1
        before, last = digest, number
    if part:
        missing(last, part[1] + 1)
    if not held:
        wrong(f"none of the {count} checkpoints is signed by a trusted key, so nothing is proven; trusted: {sorted(trusted)}"
              if count else "no checkpoint is valid, so nothing is proven")
    else:
        for number, digest in foreign:
            if not named(number, digest):
                wrong(f"checkpoint {number} is not signed by a trusted key")
        if count > len(foreign):
            wrong(f"{count - len(foreign)} more checkpoints are not signed by a trusted key")
    excuse()
    if kept:
        compare_kept(kept, sealed, digests, last, held)
    judge_retired()
    return sealed, held, last, time


def kept_before_part(number, digest, copy, sealed):
    """Whether a checkpoint from before a part holds, which shows mints on a state that was outdated then."""
    try:
        tells = json.loads(b64(copy["jws"].split(".")[1]))["changes"]
    except (*BAD, IndexError):
        tells = False
    if not tells:
        return True
    announced_by = copy.get("announced_by")
    seal = opened(number, copy["jws"], announced_by if isinstance(announced_by, str) else None)
    if seal:
        seal_heads(sealed, number, {"events": [], "changes": seal["changes"]}, named(number, digest))
    return bool(seal)


def compare_kept(kept, sealed, digests, last, held):
    copies, foreign = 0, 0
    for copy in kept_copies(kept):
        copies += 1
        number, digest = copy["checkpoint"], hashlib.sha256(copy["jws"].encode("latin-1", "replace")).hexdigest()
        if digests.get(number) == digest or number not in digests and part and number > part[1]:
            continue
        if number not in digests and not in_part(number):
            foreign += not kept_before_part(number, digest, copy, sealed)
            continue
        announced_by = copy.get("announced_by")
        seal = opened(number, copy["jws"], announced_by if isinstance(announced_by, str) else None)
        if not seal:  # another broker's, as in an output that several share
            foreign += 1
            continue
        declaration = named(number, digest)
        sentence = f"checkpoint {number}, which was kept elsewhere, isn't in the {'export' if arguments.export else 'database'}"
        if arguments.export and not declaration and number > last:
            sentence += (f", which ends with number {last}: the export is older and must be continued, its end was removed, "
                         "or the log itself lost the checkpoint" if last else ", which has no checkpoint at all: write the export with --all")
        say("note:", sentence + "; a declaration names this checkpoint") if declaration else wrong(sentence)
        if not declaration:
            retire(number, digest, seal)
        seal_heads(sealed, number, seal, declaration)
    if foreign == copies and held:
        wrong(f"none of the {copies} kept checkpoints is signed by a trusted key")
    elif foreign and held:
        say(f"note: {foreign} of the kept checkpoints are not signed by a trusted key, so they are another broker's and were left out")
    if not copies:
        wrong(f"{kept} holds no checkpoint, so nothing is proven with it")


# ---------------------------------------------------------------- trees over the sealed rows (RFC 9162 section 2.1.1)


def leaf_hash(content):
    return hashlib.sha256(b"\0" + content).digest()


def node_hash(left, right):
    return hashlib.sha256(b"\1" + left + right).digest()


class Tree:
    """A tree that grows by one leaf at a time; only its right edge is kept."""

    def __init__(self, contents=()):
        self.edge, self.size = [], 0
        for content in contents:
            self.add(content)

    def add(self, content):
        node, full = leaf_hash(content), self.size
        while full & 1:
            node, full = node_hash(self.edge.pop(), node), full >> 1
        self.edge.append(node)
        self.size += 1

    def root(self):
        *edge, root = self.edge or [hashlib.sha256().digest()]
        while edge:
            root = node_hash(edge.pop(), root)
        return root


def signs_note(text, line, origin, raw):
    """Whether an Ed25519 key signed a note (c2sp.org/signed-note)."""
    mark, name, signature = line.split(" ")
    signature = base64.b64decode(signature, validate=True)
    key_id = hashlib.sha256(origin.encode() + b"\n\x01" + raw).digest()[:4]
    return mark == "\u2014" and name == origin and signature[:4] == key_id and signs(raw, text.encode(), signature[4:])


def signs(raw, message, signature):
    with tempfile.NamedTemporaryFile() as key, tempfile.NamedTemporaryFile() as text, tempfile.NamedTemporaryFile() as bare:
        for file, content in (key, ED25519 + raw), (text, message), (bare, signature):
            file.write(content)
            file.flush()
        return not subprocess.run(["openssl", "pkeyutl", "-verify", "-pubin", "-keyform", "DER", "-inkey", key.name, "-rawin",
                                   "-in", text.name, "-sigfile", bare.name], capture_output=True).returncode


class Notes:
    """The notes beside the checkpoints, which are all of one tree that grows, up to a declaration."""

    def __init__(self):
        self.number, self.tree, self.last, self.known = 1, Tree(), 0, True

    def judge(self, number, jws, note, sealed_at):
        self.known &= number == self.last + 1 and not part  # a gap is reported elsewhere, a part lacks leaves
        if not self.known:
            return
        self.last = number
        try:
            seal = json.loads(b64(jws.split(".")[1]))
            key = seal.get("note_key")
            raw = bytes.fromhex(key) if key else None
        except (*BAD, IndexError):
            seal, raw = {}, None
        if "declared" in seal:
            self.number, self.tree = self.number + 1, Tree()
        self.tree.add(hashlib.sha256(jws.encode("utf-8", "surrogatepass")).digest())
        if raw and note is None:
            wrong(f"checkpoint {number} lacks its note")
        elif note is not None and not raw:
            wrong(f"checkpoint {number} has a note, but doesn't name the note's key")
        elif raw:
            self.compare(number, note, raw, sealed_at)

    def compare(self, number, note, raw, sealed_at):
        try:
            text, _, signatures = note.rpartition("\n\n")
            text += "\n"
            origin, size, root = text[:-1].split("\n")
            lines = signatures[:-1].split("\n")
        except BAD:
            wrong(f"checkpoint {number} has a note that can't be read")
            return
        if not origin.endswith(f"/audit/{self.number}"):
            wrong(f"checkpoint {number} has a note that names the log '{origin}', but the name must end with /audit/{self.number}")
        elif [size, root] != [str(self.tree.size), base64.b64encode(self.tree.root()).decode()]:
            self.known = False
            wrong(f"checkpoint {number} has a note whose tree doesn't match the log's checkpoints")
        elif not any(is_signature(text, line, origin, raw) for line in lines):
            wrong(f"checkpoint {number} has a note with an invalid signature")
        elif witnesses:
            witnesses.judge(number, sealed_at, self.number, self.tree.size, text, raw)


def is_signature(text, line, origin, raw):
    try:
        return signs_note(text, line, origin, raw)
    except BAD:
        return False


def note_tree(number, seal):
    if seal["format"] == 2:
        past.execute("INSERT INTO tree VALUES (?, ?)", (number, seal["root"]))
        for kind, chain, place in ("event", "chain", "seq"), ("change", "tenant", "revision"):
            past.executemany("INSERT INTO branch VALUES (?, ?, ?, ?, ?)",
                             ((number, kind, head[chain] or "", head["first"], head[place]) for head in seal[kind + "s"]))


def judge_trees():
    """A tree with a missing row can't be computed; whether the row may be missing is judged elsewhere."""
    latest = 0
    for number, root in past.execute("SELECT number, root FROM tree ORDER BY number"):
        found, expected = [], 0
        for kind, chain, first, at in past.execute(
                "SELECT kind, chain, first, at FROM branch WHERE number = ? ORDER BY rowid", (number,)):
            expected += at - first + 1
            found += past.execute("SELECT hash, time FROM leaf WHERE kind = ? AND chain = ? AND at BETWEEN ? AND ? ORDER BY at",
                                  (kind, chain, first, at)).fetchall()
        if len(found) == expected and Tree(hex_bytes(digest) for digest, _ in found).root().hex() != root:
            wrong(f"checkpoint {number} has a tree root that does not match the rows that it sealed")
        latest = max([latest, *(time for _, time in found)])
        cosigned, = past.execute("SELECT min(at) FROM cosigned WHERE number = ?", (number,)).fetchone()
        if cosigned is not None and latest > cosigned + OUTSIDE:
            wrong(f"checkpoint {number} was cosigned at {moment(cosigned)}, although it or an earlier checkpoint seals a row of {moment(latest)}")
            latest = 0  # later cosignatures of the same row aren't reported too


# ---------------------------------------------------------------- witnesses (c2sp.org/tlog-cosignature and tlog-policy)

LARGEST_POLICY, LAST_SECOND = 256 * 1024, 253_402_300_799  # the end of year 9999


class Unfit(Exception):
    """Why a policy can't be used."""


def suit(fits, why):
    if not fits:
        raise Unfit(why)


class Policy:
    """Which witnesses must have cosigned a log. A name is met by its witness, or by enough of its group."""

    def __init__(self, text):
        self.logs, self.names, self.witnesses, self.groups, self.quorum = set(), set(), {}, [], None
        members, keys = set(), set()
        for number, line in enumerate(text.split("\n"), 1):
            try:
                suit(all(c == "\t" or c >= " " and c != "\x7f" for c in line), "the line has a control character")
                words = line.replace("\t", " ").strip(" ").split()
                if words and not words[0].startswith("#"):
                    self.add(words, members, keys)
            except Unfit as why:
                raise Unfit(f"line {number}: {why}") from None
        suit(self.quorum, "a policy must have exactly one line 'quorum NAME'")
        suit(self.logs, "there is no line 'log KEY', so there is no log to witness")

    def add(self, words, members, keys):
        form, *rest = words
        if form == "log":
            suit(len(rest) in (1, 2), "a log must be written as 'log KEY [URL]'")
            name, raw = self.key(rest[0], 1, keys)
            self.logs.add((issuer(name), raw))
        elif form == "witness":
            suit(len(rest) in (2, 3), "a witness must be written as 'witness NAME KEY [URL]'")
            name, raw = self.key(rest[1], 4, keys)
            self.name(rest[0])
            self.witnesses[name, key_id(name, 4, raw)] = rest[0], raw
        elif form == "group":
            suit(len(rest) > 2, "a group must be written as 'group NAME all|any|NUMBER MEMBER\u2026'")
            name, least, *names = rest
            suit(re.fullmatch("all|any|[1-9][0-9]{0,3}", least), "a group must require all, any or a number of its members")
            least = len(names) if least == "all" else 1 if least == "any" else int(least)
            suit(least <= len(names), "a group requires more members than it has")
            for member in names:
                suit(member in self.names, f"'{member}' isn't defined on an earlier line")
                suit(member not in members, f"'{member}' is already in a group")
                members.add(member)
            self.name(name)
            self.groups.append((name, least, names))
        elif form == "quorum":
            suit(len(rest) == 1, "a quorum must be written as 'quorum NAME'")
            suit(rest[0] == "none" or rest[0] in self.names, f"'{rest[0]}' isn't defined on an earlier line")
            suit(not self.quorum, "a policy must have exactly one line 'quorum NAME'")
            self.quorum = rest[0]
        else:
            raise Unfit(f"a line must begin with log, witness, group or quorum, not '{form}'")

    def name(self, name):
        suit(name != "none" and name not in self.names, f"the name '{name}' is already used")
        self.names.add(name)

    def key(self, text, form, keys):
        """The name and the bytes of a verifier key, name+id+base64 (c2sp.org/signed-note)."""
        try:
            name, digits, encoded = text.split("+", 2)
            raw = base64.b64decode(encoded, validate=True)
            suit(re.fullmatch(r"\S{1,255}", name) and len(raw) == 33 and raw[0] == form and base64.b64encode(raw).decode() == encoded
                 and key_id(name, form, raw[1:]).hex() == digits, f"it has no Ed25519 key NAME+ID+BASE64 of type {form}")
        except BAD:
            raise Unfit(f"it has no Ed25519 key NAME+ID+BASE64 of type {form}") from None
        suit((form, raw) not in keys, "the key is already on an earlier line")
        keys.add((form, raw))
        return name, raw[1:]

    def has_log(self, origin, raw):
        """The trees of a log have the same key under names that differ in the last part, of which a policy may list one."""
        return (issuer(origin), raw) in self.logs

    def is_met(self, names):
        met = {"none", *names}
        for name, least, members in self.groups:
            met.update([name] if len(met.intersection(members)) >= least else [])
        return self.quorum in met


def issuer(origin):
    return origin.rpartition("/")[0]


def key_id(name, form, raw):
    return hashlib.sha256(name.encode() + b"\n%c" % form + raw).digest()[:4]


def read_policy(file):
    try:
        with open(file, "rb") as policy:
            raw = policy.read(LARGEST_POLICY + 1)
        suit(len(raw) <= LARGEST_POLICY, "it is too large")
        return Policy(raw.decode())
    except OSError as e:
        sys.exit(f"{e.filename} can't be read ({e.strerror}), so nothing is proven")
    except (Unfit, UnicodeDecodeError) as why:
        sys.exit(f"--policy: '{file}': {why}")


def cosignature(line, witnesses):
    """The name of the witness, its key and when it signed what; nothing if no witness has the key."""
    mark, name, encoded = line.removesuffix("\n").split(" ")
    signature = plain(encoded)
    time = int.from_bytes(signature[4:12], "big")
    if mark != "\u2014" or len(signature) != 76 or time > LAST_SECOND:
        raise ValueError
    known = witnesses.get((name, signature[:4]))
    return known and (*known, time, signature[12:])


def cosigns(text, raw, time, signature):
    return signs(raw, f"cosignature/v1\ntime {time}\n{text}".encode(), signature)


class Witnesses:
    """What witnesses cosigned of the log. Who cosigned a checkpoint's tree saw all checkpoints up to it, so for each
    witness the last one counts: (number, time of the cosignature, size, when the next checkpoint was sealed)."""

    def __init__(self, policy):
        self.policy, self.last, self.unknown, self.others, self.first, self.newest = policy, {}, set(), 0, None, None
        past.executemany("INSERT INTO cosignature VALUES (?, ?, ?)", log.cosignatures())

    def sealed(self, number, sealed_at, digest):
        """The next checkpoint of the log, whether it has cosignatures or not."""
        self.first = self.first or (number, sealed_at)
        self.newest = sealed_at, digest
        for name, (last, time, size, following) in self.last.items():
            if not following:
                self.last[name] = last, time, size, (number, sealed_at)

    def judge(self, number, sealed_at, tree, size, text, raw):
        origin = text.split("\n")[0]
        found = past.execute("SELECT line FROM cosignature WHERE tree = ? AND size = ?", (tree, size)).fetchall()
        past.execute("DELETE FROM cosignature WHERE tree = ? AND size = ?", (tree, size))
        if not self.policy.has_log(origin, raw):
            if (origin, raw) not in self.unknown:
                self.unknown.add((origin, raw))
                key = base64.b64encode(b"\x01" + raw).decode()
                wrong(f"checkpoint {number} has a note of a log that the policy doesn't list: log {origin}+{key_id(origin, 1, raw).hex()}+{key}")
            return
        for line, in found:
            try:
                cosigned = cosignature(line, self.policy.witnesses)
            except (*BAD, Unproven):
                wrong(f"checkpoint {number} has a cosignature that can't be read")
                continue
            if not cosigned:
                self.others += 1
                continue
            name, key, time, signature = cosigned
            if not cosigns(text, key, time, signature):
                wrong(f"checkpoint {number} has an invalid cosignature of {name}")
                continue
            at = time * 1_000_000
            if sealed_at > at + OUTSIDE:
                wrong(f"checkpoint {number} was cosigned by {name} at {moment(at)}, although it says that it was sealed at {moment(sealed_at)}")
            past.execute("INSERT INTO cosigned VALUES (?1, ?2) ON CONFLICT (number) DO UPDATE SET at = min(at, ?2)", (number, at))
            self.last[name] = number, at, size, None

    def end(self):
        """Whether the quorum cosigned the log, and since when it is missing."""
        for tree, size in past.execute("SELECT DISTINCT tree, size FROM cosignature ORDER BY tree, size LIMIT ?", (MOST_SHOWN,)):
            wrong(f"the log has cosignatures for tree {tree} with {size} checkpoints, but no note of that tree")
        if self.others:
            say(f"note: {self.others} cosignatures were made by keys that the policy doesn't list")
        if self.policy.quorum == "none":
            say("note: the policy requires no witness")
        elif self.newest:
            self.demand()

    def demand(self):
        names, quorum = set(), None
        for name, last in sorted(self.last.items(), key=lambda entry: (-entry[1][0], entry[0])):
            names.add(name)
            if self.policy.is_met(names):
                quorum = last
                break
        if not quorum:
            wrong(f"no checkpoint has the cosignatures that the policy requires; the first checkpoint that must have them is number {self.first[0]}, sealed at {moment(self.first[1])}")
            return
        number, time, size, following = quorum
        proven = f"The last checkpoint with the quorum is number {number}, with the size {size}, cosigned at {moment(time)}"
        if following and self.newest[0] - following[1] > GRACE:
            wrong(f"checkpoints have lacked the policy's quorum since number {following[0]}, sealed at {moment(following[1])}. {proven}")
        elif not arguments.export and now() - time > GRACE:
            doubtful("no checkpoint has reached the quorum for over an hour: brokers are stopped, or the end of the log"
                     f" was removed. {proven}", self.newest[1])
        else:
            say(f"note: the policy's quorum cosigned the log. {proven}, {ago(time)}")


# ---------------------------------------------------------------- what was granted

# The configuration at every revision of its history, on disk.
past = sqlite3.connect("")
past.executescript("""
    CREATE TABLE state (tenant, title, name, revision INTEGER, row);
    CREATE INDEX states ON state (tenant, title, name, revision);
    CREATE TABLE block (tenant, pattern, revision INTEGER, id, idp, match, subject, claims, until, enabled, ended INTEGER);
    CREATE INDEX blocks ON block (tenant, pattern, revision);
    CREATE INDEX last_blocks ON block (tenant, pattern, id) WHERE ended IS NULL;
    CREATE TABLE head (kind, chain, at INTEGER, number INTEGER, since INTEGER);
    CREATE INDEX heads_by_place ON head (kind, chain, at);
    CREATE INDEX heads_by_number ON head (kind, chain, number);
    CREATE TABLE mint (id, step INTEGER, called INTEGER, unsure INTEGER, content);
    CREATE TABLE doubted (mint UNIQUE, why, of_state, overlooked);
    CREATE TABLE arrival (tenant, revision INTEGER);
    CREATE TABLE made (tenant, first INTEGER, last INTEGER, id, at INTEGER, by, hash);
    CREATE INDEX made_by_place ON made (tenant, first);
    CREATE TABLE present (name UNIQUE, content, revision INTEGER);
    CREATE TABLE ending (tenant UNIQUE, revision INTEGER);
    CREATE TABLE tree (number INTEGER, root);
    CREATE TABLE branch (number INTEGER, kind, chain, first INTEGER, at INTEGER);
    CREATE INDEX branches ON branch (number);
    CREATE TABLE leaf (kind, chain, at INTEGER, hash, time INTEGER, PRIMARY KEY (kind, chain, at)) WITHOUT ROWID;
    CREATE TABLE cosignature (tree INTEGER, size INTEGER, line);
    CREATE INDEX cosignatures ON cosignature (tree, size);
    CREATE TABLE cosigned (number INTEGER PRIMARY KEY, at INTEGER);
""")
# what identifies a row, beside the tenant
IDENTITIES = {"tenant_admin": ["role_name"], "shared_issuer": ["issuer"], "known_issuer": ["issuer_pattern"],
              "blocked_subject": ["id"], "grant_review": ["id"], "ended_credential": ["mint_id"], "console_access": ["id"],
              "access_rule": ["id"], "access_approver": ["id"], "access_request": ["id"], "access_decision": ["id"],
              "role_member": ["role_name", "member"], "tenant": ["name"], "identity_provider": ["name"],
              "access_provider": ["name"], "key": ["name"], "subject_grant": ["id"], "provider_type": ["type"]}
SHARED = {"shared_issuer", "provider_type", "known_issuer", "role_member"}  # without tenant
NAMED_BY = {"tenant": "name", "identity_provider": "name", "access_provider": "name", "key": "name", "subject_grant": "id",
            "provider_type": "type"}
NOT_USED = {"description", "reason", "owner", "enabled", "id", "tenant", "request_id"}  # by decisions
BOOKKEEPING = ("created_", "updated_", "changed_", "approved_")
CONDITIONS = {"identity_provider": ("required_claims", None), "subject_grant": ("claims", "actor_claims")}
UNSURE = "audit_unavailable"  # the commit of the request couldn't be made sure of, so it may be missing
NOT_CALLED = {"decided_again", UNSURE}
SAID_TWICE = "tenant idp issuer subject key provider provider_type grant_id actor_idp actor_issuer actor".split()  # by a request and by its outcome
IDENTITY = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
STEP_OF = {"requested": 1, "issued": 2, "failed": 2, "withheld": 2, "denied": 2, "rejected": 2, "ended": 3}
CONFIGURED = {"tenant", "identity_provider", "access_provider", "key", "access_rule", "access_approver", "blocked_subject"}
APPROVED = {"tenant", "identity_provider", "access_provider", "key", "subject_grant", "grant_review", "access_rule", "access_approver", "access_request",
            "access_decision", "blocked_subject"}
NOT_APPROVED = "description reason owner end_access approved_by approved_at created_at created_by updated_at updated_by steps".split()
TERMS = {"access_rule": "id", "key": "name", "access_provider": "name"}  # what requests rest on, and what it is named by
STATUS = "status grant_id withdrawn_by signed_off_by signed_off_at updated_at updated_by".split()  # what changes in a request
kept_ends, kept_states, kept_blocks, kept_transactions = {}, {}, {}, {}
transaction = None


class Ungranted(Exception):
    """Why a mint wasn't granted; of_state: its row names a state that wasn't in force; overlooked: the hash of a change
    that the broker perhaps should have seen, with which the mint is only doubtful."""

    def __init__(self, why, of_state=False, overlooked=None):
        super().__init__(why)
        self.of_state, self.overlooked = of_state, overlooked


class Budget:
    """The work that a decision may take; a broker refuses more."""

    def __init__(self, steps):
        self.left = steps

    def spend(self, steps):
        self.left -= steps
        require(self.left >= 0, "the tenant's rules exceed the limit for evaluating a request")


def require(fits, why):
    if not fits:
        raise Ungranted(why)


def note_change(fields, digest):
    """Keeps what a change made of a row that mints rest on."""
    note_transaction(fields, digest)
    note_departure(fields, digest)
    note_arrival(fields, digest)
    tenant, revision, table, _, before, after, *_ = fields
    if number(revision) is None:
        return
    if table in APPROVED:
        judge_approval(tenant, int(revision), table, opened_row(before), opened_row(after), fields[6], time_of(fields[7]), fields[8])
    of = f"tenant {tenant}" if tenant is not None else "the tables without tenant"
    versions = version(tenant, table, before), version(tenant, table, after)
    if why := of_other_history(tenant, table, [one[3] for one in versions if one and one[3]]):
        wrong(f"forged_{table} of {of} at change {revision}: {why}")
    follow(f"change {revision} of {of}", int(revision), *versions)
    past.execute("INSERT INTO ending VALUES (?1, ?2) ON CONFLICT (tenant) DO UPDATE SET revision = max(revision, ?2)",
                 (tenant or "", int(revision)))
    if table not in NAMED_BY and table != "blocked_subject" or table in NAMED_BY and (tenant is None) != (table == "provider_type"):
        return
    then, then_row = identity(table, before)
    name, row = identity(table, after)
    if table == "blocked_subject":
        if name is not None:
            enabled = row.get("enabled", ("", ""))[1] == "true"
            note_block(tenant, name, revision, text_of(row, "id"),
                       *(text_of(row, column) for column in ("idp", "match", "subject", "claims", "until")), enabled)
        if then is not None and then != name:
            note_block(tenant, then, revision, text_of(then_row, "id"), None, None, None, None, None, False)
        return
    if name is not None:
        past.execute("INSERT INTO state VALUES (?, ?, ?, ?, ?)", (tenant or "", table, name, int(revision), after))
    if then is not None and then != name:
        past.execute("INSERT INTO state VALUES (?, ?, ?, ?, NULL)", (tenant or "", table, then, int(revision)))


class Approvals:
    """What the history of a tenant says, up to a change, of who approved what."""

    def __init__(self, tenant):
        self.tenant, self.second, self.turned_on_in = tenant, False, None
        self.writers, self.rules, self.approvers, self.open = {}, {}, {}, {}
        self.joined, self.admins, self.token_rows, self.reported = set(), set(), {}, set()
        self.review = None  # the last one's grant, login and transaction: the sign-off follows it
        self.granted, self.enabled = {}, {}  # requests, and until when the enabled grants of requests last
        # Pairs of issuers of which an identity provider had one before the other, and who changed approvers since a rule was approved.
        self.links, self.writers_of_approvers = set(), {}
        # Rows by which somebody was a program since a rule was last approved, with what the rows allow that would let the same subjects
        # decide as people. Without the rule's next approval, nobody becomes a person by that.
        self.former_programs = {}
        # What rules, keys and access providers allow, and their last revisions.
        self.terms = {}
        # The last issuer of each name of an identity provider, those that there are now, and who changed each access rule.
        self.issuers, self.providers, self.changers = {}, {}, {}

    def note_login(self, table, before, after, by, revision):
        """Only the service writes requests and decisions by token, and it may not write what admins configure: no login writes both."""
        grants = table == "subject_grant" and after and after.get("request_id") is None and (
            not before or after.get("approved_by") is not None and before.get("approved_at") is None)
        if table in CONFIGURED or grants:
            self.admins.add(by)
        elif before is None and after and (table == "access_request" or table == "access_decision" and after.get("decided_by") is None):
            self.token_rows.setdefault(by, (table, revision))
        if by in self.admins and by in self.token_rows and by not in self.reported:
            self.reported.add(by)
            forged, place = self.token_rows[by]
            wrong(f"forged_{forged} of tenant {self.tenant} at change {place}: login '{by}', which wrote it, also wrote configuration,"
                  " which the service's login never does")

    def join(self, row):
        """A row of access_approver in force with a login and a subject says for ever that they are one person."""
        if row and row.get("role_name") is not None and row.get("subject") is not None and self.in_force(row):
            self.joined.add(frozenset({("login", row["role_name"]), ("subject", row.get("issuer"), row["subject"])}))

    def link(self, before, after):
        """A new issuer of an identity provider makes nobody another person, nor does another row by its name."""
        for row in filter(None, (before, after)):
            for former in (before or row)["issuer"], self.issuers.get(row["name"], row["issuer"]):
                if former != row["issuer"]:
                    self.links.add(frozenset({former, row["issuer"]}))
            self.issuers[row["name"]] = row["issuer"]
        if before:
            self.providers.pop(before["name"], None)
        if after:
            self.providers[after["name"]] = after["issuer"]

    def of_issuer(self, row, idp="idp", issuer="issuer"):
        """Why a row names an issuer that its identity provider didn't have; nothing if it had it."""
        name = row.get(idp)
        known = self.providers.get(name)
        if row.get(issuer) is None if name is None else known is not None and row.get(issuer) == known:
            return None
        return f"it names issuer '{row.get(issuer)}', but " + (
            f"there was no identity provider '{name}'" if known is None else f"identity provider '{name}' had issuer '{known}'")

    def of_names(self, table, before, after):
        """Why a row that names people could not be written as it is; nothing if it could. An approver keeps the issuer that it had."""
        if table == "access_approver" and after:
            kept = before and before.get("idp") == after.get("idp")
            return self.of_issuer(after) if not kept or before.get("issuer") != after.get("issuer") else None
        if table == "access_request" and before is None:
            return self.of_issuer(after) or self.of_issuer(after, "actor_idp", "actor_issuer")
        return self.of_issuer(after) if table == "access_decision" and before is None else None

    def of_sign_off(self, before, row, by, made_in):
        """Why a break glass was not signed off by a review of its grant, once, by somebody who had no part in it; nothing if it was."""
        if before.get("signed_off_by") is not None:
            return f"it was already signed off by '{before['signed_off_by']}', and a sign-off can't be changed"
        login = row["signed_off_by"]
        if login != by:
            return f"login '{by}' recorded it"
        if self.review != (row["grant_id"], by, made_in):
            return f"'{login}' did not review its grant"
        if self.names(("login", login)) & parties(row):
            return f"'{login}' made the request, or acted in it"
        return f"'{login}' wrote, changed or approved its access rule" if self.is_one_of(login, self.changers.get(row["rule"], set())) else None

    def note_terms(self, table, before, after, revision):
        """What a rule, key or access provider allows from a revision on."""
        column = TERMS.get(table)
        if column and before:
            self.terms.pop((table, before[column]), None)
        if column and after:
            digest = hashlib.sha256(repr(sorted(allows(after).items())).encode("utf-8", "replace")).digest()
            self.terms[table, after[column]] = revision, digest, after.get("provider")

    def terms_of(self, asked):
        """The revisions of the rule, key and access provider of a request, with digests of what they allow."""
        key = self.terms.get(("key", asked["key"]))
        provider = self.terms.get(("access_provider", key[2])) if key else None
        return {"rule": self.terms.get(("access_rule", asked["rule"])), "key": key, "access provider": provider}

    def of_revisions(self, row):
        """Why an approval names other revisions than those of the rows that it rests on; nothing if it doesn't, or is older."""
        request, named = self.open.get(row.get("request")), row.get("revisions")
        if request and row.get("verdict") == "approve" and isinstance(named, dict):
            for words, term in self.terms_of(request["row"]).items():
                said = int(named.get("accessProvider" if words == "access provider" else words) or 0)
                if term and term[0] != said:
                    return f"it names revision {said} of the {words}, which had revision {term[0]}"
        return None

    def of_end(self, request, at):
        """Why a request could not be granted any more; nothing if it could."""
        asked, now, rule = request["row"], self.terms_of(request["row"]), self.rules.get(request["row"]["rule"])
        if at > micros(asked["expires_at"]) + CLOCKS:
            return "it had lapsed"
        if rule and not self.in_force(rule):
            return "its access rule was not approved yet"
        changed = [words for words, term in request["terms"].items() if (term or (0, b""))[1] != (now[words] or (0, b""))[1]]
        if changed:
            return f"these rows had changed since the request was made: {', '.join(changed)}"
        return self.of_issuer(asked) or self.of_issuer(asked, "actor_idp", "actor_issuer")

    def names(self, first):
        """All names of a person."""
        names, size = {first}, 0
        while len(names) > size:
            size = len(names)
            for both in self.joined:
                names |= both if both & names else set()
            for _, issuer, subject in [name for name in names if name[0] == "subject"]:
                names |= {("subject", other, subject) for other in self.issuers_like(issuer)}
        return names

    def issuers_like(self, issuer):
        """An issuer, and those that identity providers had before or after it: a new URL makes nobody another person."""
        alike, size = {issuer}, 0
        while len(alike) > size:
            size = len(alike)
            for link in self.links:
                alike |= link if link & alike else set()
        return alike

    def is_one_of(self, login, logins):
        """Whether a login is one of these, or another one of the same person."""
        return bool(self.names(("login", login)) & {("login", one) for one in logins})

    def in_force(self, row):
        return not self.second or row.get("approved_at") is not None

    def naming(self, row, asked):
        """The rows of approvers that name who decided, through whichever identity provider of the issuer."""
        login = row.get("decided_by")
        return [a for a in self.approvers.values() if a.get("rule") == asked["rule"] and (
            a.get("role_name") == login if login is not None else a.get("idp") is not None
            and (a["idp"] == row.get("idp") or a.get("issuer") in self.issuers_like(row.get("issuer"))) and is_meant(a["subject"], a["match"], row["subject"], Budget(STEPS)))]

    def note_former_program(self, before, after):
        names = ("role_name", "issuer", "subject", "match", "claims", "program")
        stays = after and all(exact(before.get(column)) == exact(after.get(column)) for column in names)
        if not self.second or stays or not says_program(before):
            return
        people = {repr(allows(a)) for a in self.approvers.values() if a.get("rule") == before["rule"] and a["id"] != before["id"]
                  and not a.get("program") and self.may_name_the_same(a, before)}
        if people:
            known = self.former_programs.setdefault(before["rule"], {})
            known[repr(allows(before))] = before, people | known.get(repr(allows(before)), (None, set()))[1]

    def may_name_the_same(self, one, other):
        """Whether two rows of approvers could name the same person."""
        if one.get("role_name") is not None and one["role_name"] == other.get("role_name"):
            return True
        seen = set()
        for pair in self.joined:
            if not pair & seen:
                person = self.names(next(iter(pair)))
                seen |= person
                if has_name_of(one, person) and has_name_of(other, person):
                    return True
        return (one.get("subject") is not None and other.get("subject") is not None and one.get("issuer") in self.issuers_like(other.get("issuer"))
                and (one["match"] == other["match"] == "glob" and globs_overlap(one["subject"], other["subject"])
                     or is_meant(one["subject"], one["match"], other["subject"], Budget(STEPS))
                     or is_meant(other["subject"], other["match"], one["subject"], Budget(STEPS))))

    def is_program(self, row, asked):
        """Whether a row says of any name of a person that it is a program, also one that awaits approval or that one admin alone took away."""
        person = self.person(row)
        named = [row, *({"decided_by": name[1]} if name[0] == "login" else {"issuer": name[1], "subject": name[2]} for name in person)]
        if row.get("program") or any(says_program(a) for one in named for a in self.naming(one, asked)):
            return True
        former = self.former_programs.get(asked["rule"])
        rows = {repr(allows(a)) for a in self.allowing(row, asked)} if former else set()
        return any(rows & people and any(
            program.get("role_name") == one["decided_by"] if "issuer" not in one else program.get("subject") is not None
            and program.get("issuer") == one["issuer"] and is_meant(program["subject"], program["match"], one["subject"], Budget(STEPS))
            for one in named[1:]) for program, people in former.values()) if former else False

    def allowing(self, row, asked):
        """The rows of approvers in force that let somebody decide a request."""
        return [a for a in self.naming(row, asked) if self.in_force(a) and (row.get("decided_by") is not None or a.get("idp") == row.get("idp"))
                and (a.get("max_access") is None or asked["access"] <= a["max_access"])]

    def add_decision(self, row, by):
        """A decision counts if an approver of the rule made it; consent if the subject gave it by a token of five minutes."""
        request = self.open.get(row.get("request"))
        if request and row.get("verdict") == "refuse":
            request["refused"] = True
        elif request and row.get("verdict") == "approve":
            name = row["decided_by"] if row.get("decided_by") is not None else f"{row.get('subject')} of {row.get('idp')}"
            request["names"][int(row["id"])] = name + (" (program)" if row.get("program") else "")
        if request and row.get("verdict") == "approve" and self.is_by_approver(row, request["row"], by):
            request["approvals"].append((row, self.is_program(row, request["row"])))

    def is_by_approver(self, row, asked, by):
        age = row.get("token_age")
        return (row.get("decided_by") is None and (row.get("issuer"), row.get("subject")) == (asked["issuer"], asked["subject"])
                and is_number(age) and 0 <= age <= 300 if asked.get("consent")
                else row.get("decided_by") in (None, by) and bool(self.allowing(row, asked)))

    def person(self, row):
        """All names of the person who made a decision."""
        login = row.get("decided_by")
        return self.names(("login", login) if login is not None else ("subject", row.get("issuer"), row.get("subject")))

    def of_withdrawal(self, row, by):
        """Why an approver didn't withdraw access, or it had not ended before; nothing if so."""
        asked = self.granted.get(row.get("request"))
        if not asked:
            return "the request was not granted before this change"
        if not asked.get("consent") and self.person(row) & parties(asked) or not self.is_by_approver(row, asked, by):
            return "no approver of the request made the withdrawal"
        if row.get("program") and not row.get("note"):
            return "a program made the withdrawal without a note"
        return f"grant {asked['grant_id']} was not disabled before this change" if row["request"] in self.enabled else None

    def still_enabled(self, before, after, at):
        """The first grant of a rule that lasts, though a change of the rule ends its access; nothing if none does."""
        ends = before.get("end_access") if not after else after.get("end_access") and (not after.get("enabled") or allows(before) != allows(after))
        return min((int(asked["grant_id"]) for name, asked in self.granted.items()
                    if asked.get("rule") == before["id"] and name in self.enabled and at < self.enabled[name]), default=None) if ends else None

    def approved_by(self, request):
        """The steps, as bits, in which each approver counts, and those of people alone: each once, and nobody who has a part in it."""
        asked, known, sets, of_people = request["row"], set(), [], []
        for row, was_program in request["approvals"]:
            person = self.person(row)
            rows = self.allowing(row, asked)
            steps = sum(1 << int(step) for step in {a.get("step", 1) for a in rows} & set(row.get("steps", [1])))
            program = was_program or self.is_program(row, asked)
            if steps and not person & (parties(asked) | known) and not (program and not row.get("note")):
                known |= person
                sets.append(steps)
                if not program:
                    of_people.append(steps)
        return sets, of_people

    def is_by_its_rule(self, row):
        rule = self.rules.get(row["rule"])
        return bool(rule and rule["enabled"] and self.in_force(rule) and row["access"] <= rule["max_access"]
                    and {a.get("step", 1) for a in self.approvers.values() if a.get("rule") == row["rule"] and self.in_force(a)} <= set(rule.get("steps", [1]))
                    and is_meant(rule["subject"], rule["match"], row["subject"], Budget(STEPS))
                    and all(row[column] == rule[column] for column in ("key", "idp", "approvals", "break_glass"))
                    and all(bool(row.get(column)) == bool(rule.get(column)) for column in ("end_credentials", "consent"))
                    and not (row.get("consent") and row.get("actor") is None)
                    and row.get("people", 1) == rule.get("people", 1) and sorted(row.get("steps", [1])) == sorted(rule.get("steps", [1]))
                    and are_frozen(rule["claims"], row["claims"])
                    and (rule.get("reason_pattern") is None or is_meant(rule["reason_pattern"], "glob", row["reason"], Budget(STEPS)))
                    and micros(row["expires_at"]) - micros(row["requested_at"]) == rule["expires_after"] * 1_000_000)

    def of_request(self, row, at, changed):
        """Why the request of a grant didn't allow it; nothing if it did."""
        name = row["request_id"]
        request = self.open.get(name)
        if changed:
            return f"it was changed after request {name} was approved"
        if not request:
            return f"request {name} was not pending before this change"
        asked = request["row"]
        if not request["by_its_rule"]:
            return f"request {name} was not allowed by access rule {asked['rule']}"
        if request["refused"]:
            return f"request {name} was refused before this change"
        if why := self.of_end(request, at):
            return f"request {name} was void: {why}"
        if (any(row.get(column) != asked.get(column) for column in ("key", "idp", "subject", "claims", "actor_idp", "actor"))
                or row["match"] != "exact" or row["actor_claims"] or row.get("networks") or not row["valid_from"] or not row["valid_until"]
                or micros(row["valid_from"]) > at
                or micros(row["valid_until"]) - micros(row["valid_from"]) != asked["access"] * 1_000_000):
            return f"it doesn't match the access that request {name} asked for"
        if asked.get("consent"):
            return self.of_approver_names(row, request) if request["approvals"] else f"the subject of request {name} did not consent"
        places, steps = int(asked["approvals"]), [int(step) for step in asked.get("steps", [1])]
        given, of_people = (filled_places(places, steps, sets) for sets in self.approved_by(request))
        needed = 0 if asked["break_glass"] else places * len(steps)
        people = int(asked.get("people", 1)) if needed else 0
        if given < needed:
            return f"request {name} had {given} of {needed} approvals before this change"
        if of_people < people:
            return f"request {name} had {of_people} of {people} approvals of people before this change"
        return self.of_approver_names(row, request)

    def of_approver_names(self, row, request):
        """Why a grant names others as its approvers than its request has; nothing if it names these."""
        named, approved = row.get("approved_by") or "", ", ".join(name for _, name in sorted(request["names"].items()))
        return f"it names the approvers '{named}', but the approvers were '{approved}'" if named != approved else None

    def of_row(self, before, after, wrote, by, at, made_in):
        """Why a key or grant in force wasn't approved; nothing if it was."""
        laxer = before is not None and before.get("end_access") and not after.get("end_access")
        same = before is not None and not laxer and allows(before) == allows(after) and set(before.get("steps", [1])) <= set(after.get("steps", [1]))
        disabled = (before is not None and not laxer and before.get("enabled") and not after.get("enabled")
                    and {**allows(before), "enabled": 0} == {**allows(after), "enabled": 0})
        if after.get("request_id") is not None:
            if same or disabled:
                kept = all(before.get(column) == after.get(column) for column in ("approved_by", "approved_at"))
                return None if kept else "its approval was changed later"
            why = self.of_request(after, at, before is not None)
            if not why:
                self.open.pop(after["request_id"], None)  # a request is granted once
            return why
        approval = after.get("approved_by"), after.get("approved_at")
        if approval[1] is None or (same or disabled) and approval == (before.get("approved_by"), before.get("approved_at")):
            return None
        if not same:
            return "it was written as already approved"
        if approval[0] is None:
            return None if self.turned_on_in == made_in else "it was put in force without an approval"
        return None if approval[0] == by and not self.is_one_of(by, wrote) else "it was approved only by a login that wrote or changed it"


def has_name_of(approver, person):
    """Whether a row of an approver has or matches a name of a person."""
    return ("login", approver.get("role_name")) in person or approver.get("subject") is not None and any(
        name[0] == "subject" and name[1] == approver.get("issuer") and is_meant(approver["subject"], approver["match"], name[2], Budget(STEPS))
        for name in person)


def says_program(approver):
    """Whether a row says that it names a program. The claims of a token aren't recorded, so globs that ask for some don't count."""
    return approver.get("program") and (not approver.get("claims") or approver.get("match") == "exact")


def parties(asked):
    """Who made a request, and who acted in it."""
    return {("subject", asked["issuer"], asked["subject"]), ("subject", asked.get("actor_issuer"), asked.get("actor"))}


def filled_places(places, steps, sets):
    """How many of the places in each step approvers can fill, of which each counts in one step (König and Hall)."""
    chosen = [sum(1 << step for i, step in enumerate(steps) if bits >> i & 1) for bits in range(1 << len(steps))]
    return min(places * sum(not bits >> step & 1 for step in steps) + sum(bool(one & bits) for one in sets) for bits in chosen)


def allows(row):
    """What a second admin approves. A column that was added later is missing in older changes: as null."""
    return {column: exact(value) for column, value in row.items() if column not in NOT_APPROVED and value is not None}


def exact(value):
    """A value as it is written: 100 is another number than 100.0, as for the database."""
    if isinstance(value, dict):
        return {name: exact(one) for name, one in value.items()}
    return [exact(one) for one in value] if isinstance(value, list) else (Decimal, str(value)) if isinstance(value, Decimal) else value


def opened_row(text):
    try:
        row = documents(text) if text is not None else None
        return row if isinstance(row, dict) else None
    except (*BAD, ArithmeticError):
        return None


approvals = Approvals(None)


def was_loosened(before, after, at):
    """Whether a block that was in force stops less than before; one that is deleted counts while enabled."""
    if not before or not before.get("enabled"):
        return False
    end = micros(before["until"]) if before.get("until") else 1 << 63
    if after and min(micros(after["updated_at"]), at) >= end:
        return False
    return (not after or not after.get("enabled") or bool(after.get("until")) and micros(after["until"]) < end
            or any(before.get(column) != after.get(column) for column in ("idp", "subject", "match", "claims")))


def wrong_status(then, now, request):
    """Why a request could not get another status; nothing if it could."""
    if then not in (now, "pending") and (then, now) != ("granted", "withdrawn"):
        return f"had already ended as {then}, but became {now}"
    return "was refused without a decision" if now == "refused" and request and not request["refused"] else None


def is_as_proposed(before, after):
    other = {"proposed", "created_at", "created_by", "updated_at", "updated_by"}
    said = [{column: value for column, value in row.items() if column not in other} for row in (before, after or {})]
    return bool(before.get("proposed")) and {**said[0], **before["proposed"]} == said[1]


def end_of_grant(grant):
    """When a grant ends; one that can't be read is none."""
    try:
        return micros(grant["valid_until"])
    except BAD:
        return 1 << 63


def judge_approval(tenant, revision, table, before, after, by, at, made_in):
    """Each row that gives access was approved before it was in force, by its request or by another login."""
    global approvals
    if approvals.tenant != tenant:
        approvals = Approvals(tenant)
    known = {"access_rule": approvals.rules, "access_approver": approvals.approvers}.get(table)
    approvals.note_login(table, before, after, by, revision)
    if table == "access_rule":
        approvals.changers.setdefault((after or before).get("id"), set()).add(by)
    try:
        approvals.note_terms(table, before, after, revision)
        if why := approvals.of_names(table, before, after):
            wrong(f"forged_{table} of tenant {tenant} at change {revision}: {why}")
        if table == "tenant":
            second = bool(after and after.get("require_second_admin"))
            if second != approvals.second:
                approvals.second, approvals.turned_on_in = second, made_in if second else None
                approvals.writers.clear()
                approvals.former_programs.clear()
                for row in approvals.approvers.values():
                    approvals.join(row)
        elif known is not None:
            known[(after or before)["id"]] = after
            if after is None:
                del known[before["id"]]
            if table == "access_approver" and before:
                approvals.note_former_program(before, after)
            if table == "access_rule" and before and (not after or before.get("approved_at") != after.get("approved_at")):
                approvals.former_programs.pop(before["id"], None)
            if table == "access_approver" and before and not (after and allows(before) == allows(after)):
                approvals.writers_of_approvers.setdefault(before["rule"], set()).add(by)
        elif table == "identity_provider":
            approvals.link(before, after)
        elif table == "access_request" and before is None:
            approvals.open[after["id"]] = {"row": after, "by_its_rule": approvals.is_by_its_rule(after), "terms": approvals.terms_of(after),
                                              "approvals": [], "names": {}, "refused": False}
        elif table == "access_request":
            request = approvals.open.get(before["id"])
            if after is None or after["status"] != "pending":
                approvals.open.pop(before["id"], None)
            changing = {*STATUS, *(["expires_at"] if after and after["break_glass"] and after.get("grant_id") is not None else [])}
            if after is None:
                wrong(f"forged_{table} of tenant {tenant} at change {revision}: request {before['id']} was deleted, but requests are never deleted")
            elif any(exact(before.get(column)) != exact(after.get(column)) for column in {*before, *after} - changing):
                wrong(f"forged_{table} of tenant {tenant} at change {revision}: the access that request {after['id']} asked for was changed")
            elif why := wrong_status(before["status"], after["status"], request):
                wrong(f"forged_{table} of tenant {tenant} at change {revision}: request {after['id']} {why}")
        elif table == "access_decision" and before:
            did = "changed" if after else "deleted"
            wrong(f"forged_access_decision of tenant {tenant} at change {revision}: decision {before['id']} was {did}, but decisions are never changed or deleted")
        elif table == "access_decision" and after:
            approvals.add_decision(after, by)
            if why := approvals.of_revisions(after):
                wrong(f"forged_{table} of tenant {tenant} at change {revision}: {why}")
        if table == "grant_review":
            approvals.review = after and after["grant_id"], by, made_in
        if table == "access_request" and before and after and before.get("signed_off_by") != after.get("signed_off_by"):
            if why := approvals.of_sign_off(before, after, by, made_in):
                wrong(f"wrong_sign_off of request {after['id']} of tenant {tenant} at change {revision}: {why}")
        if table == "access_request" and after and after.get("grant_id") is not None:
            approvals.granted[after["id"]] = after
        elif table == "subject_grant":
            approvals.enabled.pop((after or before).get("request_id"), None)
            if after and after["enabled"] and after.get("request_id") is not None:
                approvals.enabled[after.get("request_id")] = end_of_grant(after)
        elif table == "access_rule" and before and (grant := approvals.still_enabled(before, after, at)) is not None:
            wrong(f"unended_access of access_rule {before['id']} of tenant {tenant} at change {revision}: grant {grant} was not disabled before this change")
        elif table == "access_decision" and after and after["verdict"] == "withdraw":
            if why := approvals.of_withdrawal(after, by):
                wrong(f"wrong_withdrawal of request {after['request']} of tenant {tenant} at change {revision}: {why}")
        if table == "blocked_subject":
            row = f"blocked_subject {(after or before)['id']}"
            wrote = approvals.writers.pop((table, row), set())
            if approvals.second and was_loosened(before, after, at) and (not is_as_proposed(before, after) or approvals.is_one_of(by, wrote)):
                wrong(f"unapproved_{row} of tenant {tenant} at change {revision}: it was lifted, shortened or narrowed"
                      " without the confirmation of a second login")
            if after and after.get("proposed"):
                approvals.writers[table, row] = wrote | {by}
        if table in ("key", "subject_grant", "access_rule", "access_approver"):
            name = "name" if table == "key" else "id"
            wrote = approvals.writers.pop((table, (before or after)[name]), set())
            if table == "access_rule" and after and after.get("approved_at") not in (None, (before or {}).get("approved_at")):
                wrote |= approvals.writers_of_approvers.pop(after["id"], set())
            if after is not None:
                kind = f"{'grant' if table == 'subject_grant' else table} {after[name]}"
                if why := approvals.of_row(before, after, wrote, by, at, made_in):
                    wrong(f"unapproved_{kind} of tenant {tenant} at change {revision}: {why}")
                if approvals.second and after.get("approved_at") is None:
                    approvals.writers[table, after[name]] = wrote | {by}
        if table == "access_approver":
            approvals.join(before)
            approvals.join(after)
    except (*BAD, ArithmeticError, Ungranted):
        wrong(f"change {revision} of tenant {tenant}: its row of {table} can't be read")


def note_block(tenant, pattern, revision, block, *what):
    """What a block is from a revision on, until the next."""
    past.execute("UPDATE block SET ended = ? WHERE tenant = ? AND pattern = ? AND id IS ? AND ended IS NULL",
                 (int(revision), tenant or "", pattern, block))
    past.execute("INSERT INTO block VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)", (tenant or "", pattern, int(revision), block, *what))


def version(tenant, table, text):
    """What identifies a row, what people call it, a digest of its content, and the tenant that it names with its number."""
    if text is None:
        return None
    owner = None
    try:
        row = members(text)
        owner = (text_of(row, "name" if table == "tenant" else "tenant"),
                 text_of(row, IDENTITIES[table][0]) if IDENTITIES.get(table) in (["id"], ["mint_id"]) else None)
        known = [row.get(column, ("null", ""))[1] for column in IDENTITIES.get(table, ())]
        texts = [part for column, (form, value) in sorted(row.items())
                 if form != "null" for part in (column, form, value)]  # a column that was added later is missing in older changes
    except BAD:
        known, texts = [text for _ in IDENTITIES.get(table, ())], [text]
    content = digest_of("row", texts)
    return digest_of("row", [table, tenant, *(known or [content])]), f"{table} {' '.join(known)}"[:100], content, owner


def of_other_history(tenant, table, owners):
    """Why the row of a change is not one of its history: it names another tenant, or gets another number; nothing if it is one."""
    for owner, _ in owners if table in IDENTITIES and table not in SHARED else ():
        if owner != tenant:
            return "its row belongs to " + ("no tenant" if owner is None else f"tenant {owner}")
    if len({number for _, number in owners}) > 1:
        return f"its row was {table} {owners[0][1]} before, but the number of a row never changes"
    return None


def follow(change, revision, before, after):
    """A row must be as the change before it left it; otherwise it was changed without a recorded change."""
    if before:
        known = past.execute("SELECT content, revision FROM present WHERE name = ?", before[:1]).fetchone()
        past.execute("DELETE FROM present WHERE name = ?", before[:1])
        if not known:
            wrong(f"{change} found {before[1]}, which no earlier change inserted: the row was inserted without a recorded change")
        elif known[0] != before[2]:
            wrong(f"{change} didn't find {before[1]} as change {known[1]} had left it: the row was changed without a recorded change")
    if after:
        known = past.execute("SELECT revision FROM present WHERE name = ?", after[:1]).fetchone()
        if known:
            wrong(f"{change} inserts {after[1]}, which has existed since change {known[0]}: the row was deleted without a recorded change")
        past.execute("INSERT OR REPLACE INTO present VALUES (?, ?, ?)", (after[0], after[2], revision))


def identity(table, text):
    """The name of a row, and its members; of a block whom it blocks."""
    try:
        row = members(text)
        if table == "blocked_subject":
            subject = text_of(row, "subject") or ""
            by_rule = text_of(row, "match") == "glob" or (text_of(row, "claims") or "{}") != "{}"
            return "*" if by_rule else "=" + hashlib.sha256(subject.encode("utf-8", "replace")).hexdigest(), row
        return text_of(row, NAMED_BY[table]), row
    except BAD:
        return None, None


def text_of(row, member):
    form, text = row.get(member, ("null", ""))
    return None if form == "null" else text


def state(tenant, table, name, revision):
    """A row as it was at a revision: its members, what it is known by in a decision, and its conditions on claims."""
    known = kept_states.get((tenant, table, name))
    if not known or not known[0] <= revision < known[1]:
        last = past.execute("SELECT revision, row FROM state WHERE tenant = ? AND title = ? AND name = ? AND revision <= ?"
                            " ORDER BY revision DESC LIMIT 1", (tenant, table, name, revision)).fetchone() or (0, None)
        until, = past.execute("SELECT min(revision) FROM state WHERE tenant = ? AND title = ? AND name = ? AND revision > ?",
                              (tenant, table, name, revision)).fetchone()
        if len(kept_states) >= MOST_KEPT:
            kept_states.clear()
        known = kept_states[tenant, table, name] = last[0], until or 1 << 63, past_row(table, last[1])
    of = f"tenant {tenant}" if tenant else "the tables without tenant"
    require(known[2], f"the history of {of} has no {table} {name} at revision {revision}")
    require(table == "provider_type" or known[2][0].get("enabled") == ("other", "true"), f"{table} {name} is disabled at revision {revision}")
    return known[2]


def past_row(table, text):
    try:
        row = members(text)
        conditions, of_actor = ({name: condition(name, value) for name, value in documents(row[column][1]).items()} if column else {}
                                for column in CONDITIONS.get(table, (None, None)))
        for match, pattern in ("match", "subject"), ("actor_match", "actor"):
            if table == "subject_grant" and text_of(row, match) == "glob":
                require_glob(text_of(row, pattern))
        return row, row_digest(table, row), conditions, of_actor
    except (*BAD, ArithmeticError):
        return None


def row_digest(table, row):
    if table in ("tenant", "provider_type"):
        return text_of(row, "external_id")
    return digest_of(f"mintmark {table} 2", [
        part for column in sorted(row) if column not in NOT_USED and not column.startswith(BOOKKEEPING) and text_of(row, column) is not None
        for part in (column, str(micros(text_of(row, column))) if column.startswith("valid_") else text_of(row, column))])


def digest_of(form, texts):
    return hashlib.sha256(netstrings([form, *texts])).hexdigest()


def documents(text):
    return json.loads(text, parse_int=Decimal, parse_float=Decimal, parse_constant=no_constant)


def condition(name, value):
    """What a claim may be, as a list of values and globs; a ValueError for what no admin can have written."""
    values = value if isinstance(value, list) else [value]
    if name.startswith("/") and not re.fullmatch("(/([^~/]|~[01])*)+", name) or not values:
        raise ValueError(name)
    for one in values:
        if isinstance(one, dict) and list(one) == ["glob"] and isinstance(one["glob"], str):
            require_glob(one["glob"])
        elif not isinstance(one, (str, bool)) and not is_number(one):
            raise ValueError(name)
    return values


def is_number(value):
    return isinstance(value, Decimal) and abs(value) < Decimal("1.7976931348623158e308")


def is_met(name, values, claim, budget):
    """Whether a claim, or one of its elements, is one of these values, in type too."""
    budget.spend(2 * (16 + len(name)))
    found = claim if isinstance(claim, list) else [claim]
    budget.spend(8 * len(found) * len(values))
    return any(fits(expected, one, budget) for one in found for expected in values)


def are_frozen(conditions, claims):
    """Whether claims are those of a token that met these conditions, of lists the elements that met them: the conditions of the grant."""
    try:
        return set(conditions) == set(claims) and all(value != [] and all(
            is_met(name, condition(name, conditions[name]), one, Budget(STEPS)) for one in (value if isinstance(value, list) else [value]))
            for name, value in claims.items())
    except (ValueError, Ungranted):
        return False


def fits(expected, value, budget):
    if isinstance(expected, dict):
        return isinstance(value, str) and glob_matches(expected["glob"], value, budget)
    if isinstance(expected, Decimal):
        return is_number(value) and expected == value
    return type(expected) is type(value) and expected == value


def require_glob(pattern):
    if len(pattern) > 512 or sum((len(stars) + 1) // 2 for stars in re.findall(r"\*+", pattern)) > 8:
        raise ValueError(pattern)


def glob_matches(pattern, text, budget):
    """Whether * (within a segment: no : and no /) and ** make a pattern of a text. Walks through it once for each star."""
    first, *rest = re.split(r"(\*+)", pattern)
    if not rest or not text.startswith(first) or not text.endswith(rest[-1]):
        return pattern == text
    budget.spend(len(pattern) + len(rest) * len(text))
    reached = {len(first)}
    for stars, literal in zip(rest[::2], rest[1::2]):
        there, behind = False, set()
        for at in range(len(text) + 1):
            there = at in reached or there and (len(stars) > 1 or text[at - 1] not in ":/")
            if there and text.startswith(literal, at):
                behind.add(at + len(literal))
        reached = behind
    return len(text) in reached


def globs_overlap(one, other):
    """Whether some string matches both: reads the other part by part, and keeps as bits the places of the one that strings lead to."""
    parts, others = (re.findall(r"\*+|.", glob, re.DOTALL) for glob in (one, other))
    stars = sum(1 << at for at, part in enumerate(parts) if part[0] == "*")
    deep = sum(1 << at for at, part in enumerate(parts) if part[:2] == "**")
    segment = sum(1 << at for at, part in enumerate(parts) if part not in (":", "/"))
    reached = 3 if stars & 1 else 1
    for part in others:
        if part == "*":
            before = 0
            while before != reached:
                before, reached = reached, reached | (reached & segment) << 1
        elif part[0] == "*":
            reached = -(reached & -reached) & (2 << len(parts)) - 1
        else:
            same = sum(1 << at for at, own in enumerate(parts) if own == part)
            reached = (reached & same) << 1 | reached & (deep if part in ":/" else stars)
        reached |= (reached & stars) << 1
    return bool(reached >> len(parts) & 1)


def blocks_at(tenant, pattern, revision):
    """The blocks of every token of a subject, or the others, that were in force at a revision."""
    known = kept_blocks.get((tenant, pattern))
    if not known or not known[0] <= revision < known[1]:
        blocks = past.execute("SELECT idp, match, subject, claims, until FROM block WHERE tenant = ?1 AND pattern = ?2 AND revision <= ?3"
                              " AND (ended IS NULL OR ended > ?3) AND enabled LIMIT ?4", (tenant, pattern, revision, MOST_BLOCKS + 1)).fetchall()
        require(len(blocks) <= MOST_BLOCKS, f"more than {MOST_BLOCKS} blocks were in force; a broker reads at most that many")
        since, until = (past.execute(f"SELECT {limit}(revision) FROM block WHERE tenant = ? AND pattern = ? AND revision {side} ?",
                                     (tenant, pattern, revision)).fetchone()[0] for limit, side in (("max", "<="), ("min", ">")))
        if len(kept_blocks) >= 64:
            kept_blocks.clear()
        known = kept_blocks[tenant, pattern] = since or 0, until or 1 << 63, blocks
    return known[2]


def is_blocked(tenant, revision, idp, subject, claims, at, budget):
    """Whether a block was in force that ended no earlier than at."""
    exact = "=" + hashlib.sha256(subject.encode("utf-8", "replace")).hexdigest()
    for pattern in "*", exact:
        blocks = blocks_at(tenant or "", pattern, revision)
        for by, match, whom, conditions, until in blocks:
            if by not in (None, idp) or until is not None and at >= micros(until):
                continue
            if pattern != "*":
                return True
            if match == "glob":
                require_glob(whom)
            if is_meant(whom, match, subject, budget):
                seen = documents(claims) if claims and conditions not in (None, "{}") else {}
                if all(is_met(name, condition(name, value), seen.get(name), budget)
                       for name, value in documents(conditions or "{}").items()):
                    return True
    return False


def decide(row, chain, at):
    """Makes the decision on a mint again, in the state of the configuration that its row names."""
    for column in ("tenant", "idp", "issuer", "subject", "key", "provider", "provider_type", "grant_id", "grant_revision", "occurred_at"):
        require(row[column] is not None, f"the mint's row has no {column}")
    tenant, revision, time = row["tenant"], int(row["grant_revision"]), int(row["occurred_at"])
    owner, external_id, *_ = state(tenant, "tenant", tenant, revision)
    idp, idp_digest, required, _ = state(tenant, "identity_provider", row["idp"], revision)
    key, key_digest, *_ = state(tenant, "key", row["key"], revision)
    provider, provider_digest, *_ = state(tenant, "access_provider", row["provider"], revision)
    grant, grant_digest, conditions, of_actor = state(tenant, "subject_grant", row["grant_id"], revision)
    for of, what in (key, f"key {row['key']}"), (grant, f"grant {row['grant_id']}"):
        require(text_of(owner, "require_second_admin") != "true" or text_of(of, "approved_at") is not None,
                f"unapproved_{what} at revision {revision}")
    require(text_of(idp, "issuer") == row["issuer"], f"identity provider '{row['idp']}' had the issuer '{text_of(idp, 'issuer')}' at revision {revision}, but the mint's row has '{row['issuer']}'")
    require(text_of(key, "provider") == row["provider"], f"key '{row['key']}' had the access provider '{text_of(key, 'provider')}' at revision {revision}, but the mint's row has '{row['provider']}'")
    require(text_of(provider, "type") == row["provider_type"], f"access provider '{row['provider']}' had the type '{text_of(provider, 'type')}' at revision {revision}, but the mint's row has '{row['provider_type']}'")
    require_accepted(idp, "subject", revision)
    budget = Budget(STEPS)
    actor_required, actor_digest = require_actor(row, revision)
    require_granted(row, grant, revision, time, budget)
    claims = documents(row["claims"]) if row["claims"] and (required or conditions) else {}
    acting = documents(row["actor_claims"]) if row["actor_claims"] and (actor_required or of_actor) else {}
    for which, seen, of in ((required, claims, "its identity provider"), (actor_required, acting, "its actor's identity provider"),
                            (conditions, claims, f"grant {row['grant_id']}"), (of_actor, acting, f"grant {row['grant_id']}")):
        require(all(is_met(name, values, seen.get(name), budget) for name, values in which.items()),
                f"the claims don't meet the conditions of {of} at revision {revision}")
    require_in_force(row, tenant, revision, time, chain, at)
    require_lifetime(row, owner, f"tenant {tenant}", revision)
    require_made(tenant, revision, time)
    require(row["shared_revision"] is not None, "the mint's row has no shared_revision")
    require_in_force(row, None, int(row["shared_revision"]), time, chain, at)
    kind, *_ = state("", "provider_type", row["provider_type"], int(row["shared_revision"]))
    require_lifetime(row, kind, f"provider_type {row['provider_type']}", row["shared_revision"])
    require_made(None, int(row["shared_revision"]), time)
    used = digest_of("mintmark decision 1", [external_id, idp_digest, provider_digest, key_digest, grant_digest, actor_digest])
    require(used == row["config_hash"], "the mint's config_hash differs from the settings in the history "
            f"(tenant, identity providers, access provider, key and grant) at revision {revision}")
    require_seen(tenant, revision, time)
    require_seen(None, int(row["shared_revision"]), time)


def require_accepted(idp, role, revision):
    require(role in documents(idp.get("accepts", ("other", "[]"))[1]), f"an identity provider accepts no {role} at revision {revision}")


def require_actor(row, revision):
    """Conditions on the actor's token, if it has one, and the digest of its identity provider."""
    if row["actor"] is None:
        return {}, None
    for column in "actor_idp", "actor_issuer":
        require(row[column] is not None, f"the mint's row has no {column}")
    idp, digest, required, _ = state(row["tenant"], "identity_provider", row["actor_idp"], revision)
    require(text_of(idp, "issuer") == row["actor_issuer"], f"the actor's identity provider '{row['actor_idp']}' had the issuer '{text_of(idp, 'issuer')}' at revision {revision}, but the mint's row has the issuer '{row['actor_issuer']}'")
    if row["actor_token_hash"] is not None:
        require_accepted(idp, "actor", revision)
        return required, digest
    require(row["actor_idp"] == row["idp"], "the actor has no token of its own, but its identity provider is not the subject's")
    return {}, digest


def is_meant(pattern, match, text, budget):
    return match == "exact" and pattern == text or match == "glob" and glob_matches(pattern, text, budget)


def require_granted(row, grant, revision, time, budget):
    of = f"grant {row['grant_id']} is for {{}} at revision {revision}"
    require(text_of(grant, "idp") == row["idp"], of.format("another identity provider"))
    require(text_of(grant, "key") == row["key"], of.format("another key"))
    require(is_meant(text_of(grant, "subject"), text_of(grant, "match"), row["subject"], budget), of.format("other subjects"))
    actor = text_of(grant, "actor")
    require(actor is None and row["actor"] is None or actor is not None and row["actor"] is not None
            and text_of(grant, "actor_idp") == row["actor_idp"] and is_meant(actor, text_of(grant, "actor_match"), row["actor"], budget),
            of.format("another actor"))
    networks = documents(text_of(grant, "networks") or "[]")
    require(not networks or row["client_address"] is not None
            and any(address_of(row) in ipaddress.ip_network(network) for network in networks), of.format("other networks"))
    begin, end = (text_of(grant, member) for member in ("valid_from", "valid_until"))
    require((begin is None or micros(begin) <= time) and (end is None or time < micros(end)), of.format("another time"))


def address_of(row):
    address = ipaddress.ip_interface(row["client_address"]).ip
    return getattr(address, "ipv4_mapped", None) or address


def require_lifetime(row, limiting, what, revision):
    """config_hash doesn't cover the limits of the tenant and of the provider's type."""
    require(row["expires_at"] is not None, "the mint's row has no expires_at")
    life, limit = int(row["expires_at"]) - int(row["occurred_at"]), text_of(limiting, "max_duration")
    require(limit is None or life <= int(limit) * 1_000_000 + SLACK,
            f"the credential was requested for longer than the max_duration of {what} at revision {revision}")


def end_of(tenant):
    """The last revision of a tenant; 0 where there is none."""
    if tenant not in kept_ends:
        if len(kept_ends) >= MOST_KEPT:
            kept_ends.clear()
        kept_ends[tenant], = past.execute("SELECT revision FROM ending WHERE tenant = ?", (tenant or "",)).fetchone() or (0,)
    return kept_ends[tenant]


def require_in_force(row, tenant, revision, time, chain, at):
    of = f"tenant {tenant}" if tenant else "the tables without tenant"
    budget = Budget(STEPS if tenant else 2 * STEPS)
    require(not is_blocked(tenant, revision, row["idp"], row["subject"], row["claims"], time + MINUTE, budget)
            and (row["actor"] is None
                 or not is_blocked(tenant, revision, row["actor_idp"], row["actor"], row["actor_claims"], time + MINUTE, budget)),
            f"the subject or actor is blocked in {of} at revision {revision}")
    if revision > end_of(tenant):
        raise Ungranted(f"the mint was decided on revision {revision} of {of}, whose history ends with revision {end_of(tenant)}", True)
    later = past.execute("SELECT number FROM head WHERE kind = 'change' AND chain = ? AND at > ? ORDER BY at LIMIT 1",
                         (tenant or "", revision)).fetchone()
    if later and chain is not None and at is not None:
        upto = past.execute("SELECT at FROM head WHERE kind = 'event' AND chain = ? AND number <= ? ORDER BY number DESC LIMIT 1",
                            (chain, later[0])).fetchone() or (0,)
        if upto[0] < at:
            raise Ungranted(f"the broker used revision {revision} of {of}, although checkpoint {later[0]} had already sealed a later revision", True)


def judge_mint(fields, _):
    """A doubt about a mint waits for its outcome, since a mint whose provider wasn't called needs no grant."""
    row = dict(zip(EVENT, fields))
    mint, kind = row["mint_id"], row["kind"]
    if kind not in STEP_OF or row["step"] != str(STEP_OF[kind]):
        wrong(f"{kind} {mint}, row {row['seq']} of chain {row['chain']}, was inserted: no broker writes this kind with step {row['step']}")
    else:
        called = None if kind in ("denied", "rejected") else not (kind == "failed" and row["reason"] in NOT_CALLED)
        if IDENTITY.fullmatch(mint or ""):
            content = digest_of("mint", [row[column] for column in SAID_TWICE]) if called is not None and kind != "ended" else None
            unsure = kind == "failed" and row["reason"] == UNSURE
            past.execute("INSERT INTO mint VALUES (?, ?, ?, ?, ?)", (mint, STEP_OF[kind], called, unsure, content))
    if kind == "requested":
        try:
            decide(row, row["chain"], number(row["seq"]))
        except Ungranted as why:
            doubt(mint, why)
        except (*BAD, ArithmeticError):  # of numbers that SQLite or Decimal can't hold
            doubt(mint, Ungranted("the mint's row can't be read"))


def doubt(mint, why):
    if IDENTITY.fullmatch(mint or ""):
        past.execute("INSERT OR IGNORE INTO doubted VALUES (?, ?, ?, ?)", (mint, str(why), why.of_state, why.overlooked))
    else:
        report(mint, why, why.overlooked)


def report(mint, why, overlooked):
    doubtful(f"step 1 of mint {mint}: {why}", overlooked) if overlooked else wrong(f"ungranted_mint {mint}: {why}")


def end_of_mints():
    """Compares the rows of each mint. A part may lack some of them."""
    global too_many_open
    lost = any(declaration["events"] for declaration in declarations)
    past.execute("CREATE INDEX mints ON mint (id, step)")
    for mint, in past.execute("SELECT id FROM mint GROUP BY id, step HAVING count(*) > 1 ORDER BY id"):
        lacks(f"a step of mint {mint} appears more than once", lost)
    for mint, in past.execute("SELECT id FROM mint AS e WHERE step = 3 AND NOT EXISTS (SELECT 1 FROM mint AS r WHERE r.id = e.id"
                              " AND r.step = 1) ORDER BY id") if not part else ():
        lacks(f"mint {mint} ended but was never requested", lost)
    for mint, in past.execute("SELECT DISTINCT id FROM mint AS o WHERE step = 2 AND called IS NOT NULL AND NOT unsure AND NOT EXISTS ("
                              "SELECT 1 FROM mint AS r WHERE r.id = o.id AND r.step = 1) ORDER BY id") if not part else ():
        lacks(f"mint {mint} has an outcome but was never requested", lost)
    for mint, in past.execute("SELECT id FROM mint WHERE content IS NOT NULL GROUP BY id HAVING min(content) <> max(content) ORDER BY id"):
        wrong(f"the rows of mint {mint} contradict each other")
    for mint, in past.execute("SELECT id FROM mint AS r WHERE step = 1 AND NOT EXISTS (SELECT 1 FROM mint AS o WHERE o.id = r.id"
                              " AND o.step = 2 AND o.called IS NOT NULL) LIMIT ?", (MOST_OPEN + 1,)):
        open_mints.add(mint)
    too_many_open = len(open_mints) > MOST_OPEN
    for mint, why, of_state, overlooked in past.execute("SELECT * FROM doubted ORDER BY rowid"):
        outcomes = past.execute("SELECT count(*), max(called) FROM mint WHERE id = ? AND step = 2 AND called IS NOT NULL", (mint,)).fetchone()
        if outcomes[0] and not outcomes[1]:
            continue
        if of_state and not outcomes[0]:
            say(f"note: mint {mint} has no outcome, and {why}. A broker leaves such a row if it stops before it calls the provider")
        else:
            report(mint, why, overlooked)


def lacks(sentence, lost):
    say(f"note: {sentence}; rows were declared lost") if lost else wrong(sentence)


# ---------------------------------------------------------------- changes that became visible late


def note_transaction(fields, digest):
    """The changes of a transaction to a tenant follow one another, and it was open at least until the last of them."""
    global transaction
    tenant, revision, *_, by, at, identity = fields
    if number(revision) is None:
        return
    at = int(at) if re.fullmatch("-?[0-9]{1,18}", at or "") else 0
    if transaction and (transaction[0], transaction[3]) == (tenant or "", identity):
        transaction = *transaction[:2], int(revision), identity, at, by, digest
    else:
        end_of_transactions()
        transaction = tenant or "", int(revision), int(revision), identity, at, by, digest


def end_of_transactions():
    global transaction
    if transaction:
        tenant, first, last, *rest = transaction
        past.execute("INSERT INTO made VALUES (?, ?, ?, ?, ?, ?, ?)", (tenant, first, last, *rest))
    transaction = None


def moment(at):
    try:
        return (EPOCH + timedelta(microseconds=at)).isoformat()
    except OverflowError:
        return str(at)


def note_departure(fields, digest):
    """Where the history of a tenant ends that moved to another cell, whose log goes on from there."""
    global departure
    tenant, revision, table, _, _, after, *_ = fields
    if departure and departure[0] != tenant:
        end_of_departure()
    try:
        url = json.loads(after or "{}")["moved_to"] if table == "tenant" else None
    except BAD:
        url = None
    departure = (tenant, revision, url, digest) if isinstance(url, str) else None


def end_of_departure():
    global departure
    if departure:
        tenant, revision, url, digest = departure
        say(f"note: change {revision} of tenant {tenant}, which moved to {url}, is the last revision of its history at this cell "
            f"({digest})")
    departure = None


def note_arrival(fields, digest):
    """The change by which a tenant came from another cell, where the history before it was made and where it ended as signed."""
    global latest_change
    tenant, revision, table, _, before, after, *_ = fields
    (of, previous), latest_change = latest_change, (tenant, digest)
    try:
        left, came = (json.loads(side or "{}") for side in (before, after)) if table == "tenant" else ({}, {})
        arrives = isinstance(left["moved_to"], str) and came["moved_to"] is None
    except BAD:
        return
    if not arrives:
        return
    past.execute("INSERT INTO arrival VALUES (?, ?)", (tenant or "", number(revision) or 0))
    try:
        source = came["moved_from"]["url"]
        jws = came["moved_from"]["statement"]
        stated = signed(jws, (cells | trusted)[json.loads(b64(jws.split(".")[0]))["kid"]])
        if (stated["statement"], stated["tenant"], str(stated["revision"] + 1), stated["hash"]) != ("tenant moved", tenant, revision, previous) or of != tenant:
            raise ValueError
        say(f"note: change {revision} of tenant {tenant}, which came from {source}, follows revision {stated['revision']}, the last "
            f"revision of its history at that cell ({stated['hash']})")
    except BAD:
        doubtful(f"change {revision} of tenant {tenant}, which came from another cell, has no statement of that cell that a trusted "
                 "key signed: the changes before it are not proven", digest)


def came_with_tenant(tenant, last, checkpoint):
    """Whether a change was made at another cell: it is sealed here with the tenant's arrival, and not before."""
    arrival = past.execute("SELECT min(revision) FROM arrival WHERE tenant = ? AND revision > ?", (tenant, last)).fetchone()[0]
    return arrival is not None and past.execute("SELECT number FROM head WHERE kind = 'change' AND chain = ? AND at >= ? ORDER BY at LIMIT 1",
                                                (tenant, arrival)).fetchone() == (checkpoint,)


def judge_late():
    """Changes that a checkpoint should have sealed: their transaction was open for long, or somebody hid them."""
    end_of_transactions()
    end_of_departure()
    for tenant, last, at, by, digest in past.execute("SELECT tenant, last, at, by, hash FROM made ORDER BY tenant, first"):
        seal = past.execute("SELECT number, since FROM head WHERE kind = 'change' AND chain = ? AND at >= ? ORDER BY at LIMIT 1",
                            (tenant, last)).fetchone()
        if seal and seal[1] is not None and at + LATE < seal[1] and not came_with_tenant(tenant, last, seal[0]):
            doubtful(f"change {last} of {f'tenant {tenant}' if tenant else 'the tables without tenant'}, made at {moment(at)} by {by}, "
                     f"was sealed late: checkpoint {seal[0] - 1}, sealed at {moment(seal[1])}, doesn't include it. The transaction of the "
                     "change was open for a long time, or the change was hidden from brokers. Ask its author when they committed it, and check "
                     "the mints of that time", digest)


def transaction_of(tenant, revision):
    """The transaction that made a revision: its last revision, when, by whom, and the hash of that change."""
    if (tenant, revision) not in kept_transactions:
        if len(kept_transactions) >= MOST_KEPT:
            kept_transactions.clear()
        kept_transactions[tenant, revision] = past.execute(
            "SELECT last, at, by, hash FROM (SELECT * FROM made WHERE tenant = ? AND first <= ? ORDER BY first DESC LIMIT 1)"
            " WHERE last >= ?", (tenant or "", revision, revision)).fetchone()
    return kept_transactions[tenant, revision]


def require_made(tenant, revision, time):
    """A mint on a revision can't be older than it, apart from what two clocks may differ by."""
    made = transaction_of(tenant, revision)
    if made and made[1] > time + CLOCKS:
        raise Ungranted(f"the mint was decided at {moment(time)} on revision {revision} of "
                        f"{f'tenant {tenant}' if tenant else 'the tables without tenant'}, which was made later, at {moment(made[1])}")


def require_seen(tenant, revision, time):
    """Whether a mint was decided long after the next change of the configuration was made."""
    later = transaction_of(tenant, revision + 1)
    if later and later[1] + LATE < time:
        raise Ungranted(f"the mint was decided at {moment(time)} on revision {revision} of {f'tenant {tenant}' if tenant else 'the tables without tenant'}, "
                        f"although change {later[0]} was made earlier, at {moment(later[1])}. The transaction of the change was open for a long time, or the change was "
                        f"hidden from the broker: ask its author, {later[2]}, when they committed it", False, later[3])


# ---------------------------------------------------------------- chains


def chains(kind, columns, table, chain, place, time, sealed, each):
    """Follows every chain of a table row by row; what was sealed and is there is taken out of `sealed`."""
    now, at, last, count, open_end = None, 0, "", 0, 0
    tops = {chain: max(heads, default=0) for chain, heads in sealed.items()}
    for count, row in enumerate(log.rows(columns + ["prev_hash", "hash"], table, f"{chain}, {place}"), 1):
        *fields, previous, digest = row
        key = kind, fields[columns.index(chain)]
        if key != now:
            at, last = starts.get(key[1], (0, "00" * 32)) if kind == "event" else (0, "00" * 32)
        now, at = key, at + 1
        there = number(fields[columns.index(place)]) or 0
        while kind == "event" and (gone := covering(key[1], at, there)):
            at, last = gone
        while kind == "event" and at < there and is_excused(key[1], at):
            at, last = max(end for first, end in excused[key[1]] if first <= at <= end) + 1, previous
        at = min(at, there) if kind == "event" and is_excused(key[1], at - 1) else at
        name = f"{kind} {fields[:2]} of chain {key[1]}"
        if kind == "event" and key[1] is None:
            wrong(f"{name} is in no chain")
        elif there != at:
            wrong(f"{name} is in the place of row {at}")
            at = there
        elif previous != last:
            wrong(f"{name} doesn't follow the row before it")
        form = canonical(f"mintmark {kind} {1 if kind == 'change' else 2}", columns, fields)
        if digest != hashlib.sha256(hex_bytes(previous) + form).hexdigest():
            wrong(f"{name} was changed")
        if sealed.get(key, {}).pop(at, digest) != digest:
            wrong(f"{name} isn't the row that was sealed")
        each(fields, digest)
        past.execute("INSERT OR IGNORE INTO leaf VALUES (?, ?, ?, ?, ?)", (kind, key[1] or "", at, digest, time_of(fields[columns.index(time)])))
        if kind == "event":
            still_there(fields[0], key[1], at, digest)
        open_end += at > tops.get(key, 0)
        last = digest
    return count, open_end


def covering(chain, at, there):
    """Past which rows that were retired the next row stands, and the hash that it hangs on."""
    for rows, _ in parts.get(chain, ()):
        if rows["first"] <= at <= rows["last"] < there:
            return rows["last"] + 1, rows["hash"]


def time_of(text):
    """Microseconds since 1970; 0 for what is no time, which fits no hash that the database made."""
    return int(text) if re.fullmatch("-?[0-9]{1,17}", text or "") else 0


def number(text):
    """A place; nothing for what is none."""
    return int(text) if re.fullmatch("[0-9]{1,18}", text or "") else None


def hex_bytes(text):
    text = text or ""
    return bytes.fromhex(text) if len(text) % 2 == 0 and re.fullmatch("[0-9a-f]*", text) else b"\0"


open_mints, too_many_open = set(), False


# ---------------------------------------------------------------- the receipt of one mint

FORMS = {"mintmark event 2": ("event", EVENT, "chain", "seq"), "mintmark change 1": ("change", CHANGE, "tenant", "revision")}
RECEIPTS = ["receipt", "rows", "checkpoints"], ["receipt", "rows", "checkpoints", "note", "leaves"]
LARGEST_RECEIPT = 1024 * 1024
SIZE = re.compile(rb"(0|[1-9][0-9]{0,8}):")


class Unproven(Exception):
    """Why a receipt proves nothing."""


def demand(fits, why):
    if not fits:
        raise Unproven(why)


def plain(text):
    """The bytes of a base64 text, which has only one form."""
    raw = base64.b64decode(text, validate=True)
    demand(base64.b64encode(raw).decode() == text, "the receipt has base64 that isn't canonical")
    return raw


def texts_of(form):
    """The texts of a canonical form."""
    texts, at = [], 0
    while at < len(form):
        size = SIZE.match(form, at)
        if size:
            end = size.end() + int(size[1])
            texts.append(form[size.end():end].decode())
        else:
            end = at + 1
            texts.append(None)
        demand(form[end:end + 1] == b"," and (size or form[at:end] == b"-"), "the receipt has a row that isn't in canonical form")
        at = end + 1
    return texts


def includes(root, content, index, size, path):
    """RFC 9162 section 2.1.3.2"""
    node, last = leaf_hash(content), size - 1
    for other in path:
        if not last:
            return False
        if index & 1 or index == last:
            node = node_hash(other, node)
            while index and not index & 1:
                index, last = index >> 1, last >> 1
        else:
            node = node_hash(node, other)
        index, last = index >> 1, last >> 1
    return not last and node.hex() == root


def receipt_seal(jws):
    """What a checkpoint of a receipt says, if the key that it shows signed it, and the key is trusted."""
    header = json.loads(b64(jws.split(".")[0]))
    point = b64(header["jwk"]["x"]) + b64(header["jwk"]["y"])
    demand(thumbprint(point) == header["kid"], "the receipt has a checkpoint whose key isn't the one that it names")
    demand(not trusted or header["kid"] in trusted, f"the receipt has a checkpoint of key {header['kid']}, which isn't trusted")
    try:
        seal = signed(jws, point)
    except BAD:
        raise Unproven("the receipt has a checkpoint with an invalid signature") from None
    demand(seal["key"] == header["kid"] and has_tree(seal), "the receipt has a checkpoint without a tree")
    return seal


def receipt_row(entry, seals):
    """A row of a receipt, which must be in the tree of its checkpoint: its kind, its columns and the checkpoint."""
    demand(list(entry) == ["row", "checkpoint", "path"] and type(entry["checkpoint"]) is int
           and 0 <= entry["checkpoint"] < len(seals), "the receipt has an unknown field")
    content = plain(entry["row"])
    name, *fields = texts_of(content[32:])
    demand(name in FORMS and len(fields) == len(FORMS[name][1]), "the receipt has a row of an unknown form")
    kind, columns, chain, place = FORMS[name]
    row, seal, size, index = dict(zip(columns, fields)), seals[entry["checkpoint"]], 0, None
    at = number(row[place])
    for other, its_chain, its_place in ("event", "chain", "seq"), ("change", "tenant", "revision"):
        for head in seal[other + "s"]:
            if other == kind and head[its_chain] == row[chain] and at is not None and head["first"] <= at <= head[its_place]:
                index = size + at - head["first"]
            size += head[its_place] - head["first"] + 1
    demand(index is not None, f"checkpoint {seal['number']} doesn't seal one of its rows")
    demand(includes(seal["root"], hashlib.sha256(content).digest(), index, size, list(map(plain, entry["path"]))),
           f"one of its rows isn't in the tree of checkpoint {seal['number']}")
    return kind, row, seal


def receipt_steps(rows):
    """The rows of the mint, by step."""
    steps = {row["step"]: row for kind, row, _ in rows if kind == "event"}
    demand(steps and [row["step"] for kind, row, _ in rows if kind == "event"] == sorted(steps), "its steps aren't in order")
    for step, row in steps.items():
        demand(step == str(STEP_OF.get(row["kind"])), "one of its rows has a step of another kind")
    demand(len({row["mint_id"] for row in steps.values()}) == 1, "its rows are of several mints")
    said = {tuple(row[column] for column in SAID_TWICE) for step, row in steps.items() if step in "12"}
    demand(len(said) <= 1, "its rows contradict each other")
    return steps


def receipt_changes(rows, requested):
    """The grant of the mint, and the request and the decisions that led to it."""
    changes = [(row, json.loads(row["after"])) for kind, row, _ in rows if kind == "change"]
    demand(requested or not changes, "the receipt has a change that the mint doesn't name")
    grant = None
    for row, after in changes:
        fits = row["tenant"] == requested["tenant"] and int(row["revision"]) <= int(requested["grant_revision"])
        if row["table_name"] == "subject_grant":
            fits = fits and grant is None and str(after["id"]) == requested["grant_id"] and after["key"] == requested["key"]
            grant = after
        else:
            named = {"access_request": "id", "access_decision": "request"}.get(row["table_name"])
            fits = fits and grant and named and after[named] is not None and after[named] == grant.get("request_id")
        demand(fits, "the receipt has a change that the mint doesn't name")
    return changes


def read_receipt(raw, policy=None):
    """What a receipt proves, as lines; Unproven if it doesn't."""
    try:
        text = raw.decode("ascii")
        receipt = json.loads(text, parse_constant=no_constant)
        demand(json.dumps(receipt, separators=(",", ":")) + "\n" == text and list(receipt) in RECEIPTS
               and receipt["receipt"] == 1 and type(receipt["receipt"]) is int, "the file isn't a receipt that mintmark audit prove wrote")
        seals = [receipt_seal(jws) for jws in receipt["checkpoints"]]
        rows = [receipt_row(entry, seals) for entry in receipt["rows"]]
        demand({entry["checkpoint"] for entry in receipt["rows"]} == set(range(len(seals))), "the receipt has a checkpoint without a row")
        steps = receipt_steps(rows)
        head = receipt_note(receipt, seals, policy) if "note" in receipt else None
        if policy:
            demand(head, "the receipt has no note, so no witness cosigned it")
            demand_quorum(head, rows, [seals[leaf["checkpoint"]] for leaf in receipt["leaves"]], policy)
        changes = receipt_changes(rows, steps.get("1"))
    except (*BAD, IndexError):
        raise Unproven("the receipt can't be read") from None
    return receipt_lines(steps, changes, seals, head, policy)


def require_kept(receipt, file):
    """Whether the checkpoints of a receipt are those that were kept with the same numbers, and for how many there are such."""
    checkpoints = {json.loads(b64(jws.split(".")[1]))["number"]: jws for jws in json.loads(receipt)["checkpoints"]}
    kept = defaultdict(set)
    for copy in kept_copies(file):
        if copy["checkpoint"] in checkpoints:
            kept[copy["checkpoint"]].add(copy["jws"] == checkpoints[copy["checkpoint"]])
    for number, found in kept.items():
        demand(True in found, f"its checkpoint {number} isn't the one that was kept")
    return len(kept), len(checkpoints)


def receipt_note(receipt, seals, policy):
    """The log and the size of the tree that the note of a receipt is about, which must have the checkpoints of its leaves;
    then who cosigned it when, as far as the policy has their keys, and how many did."""
    text, _, lines = receipt["note"].rpartition("\n\n")
    origin, size, root = text.split("\n")
    demand(re.fullmatch("[1-9][0-9]{0,17}", size) and lines.endswith("\n"), "the receipt has a note that can't be read")
    leaves = receipt["leaves"]
    demand(leaves and all(list(leaf) == ["checkpoint", "index", "path"] and type(leaf["checkpoint"]) is type(leaf["index"]) is int
                          and 0 <= leaf["checkpoint"] < len(seals) for leaf in leaves), "the receipt has an unknown field")
    named = [leaf["checkpoint"] for leaf in leaves]
    demand(named == sorted(set(named)), "the receipt has a leaf twice")
    for leaf in leaves:
        digest = hashlib.sha256(receipt["checkpoints"][leaf["checkpoint"]].encode()).digest()
        demand(0 <= leaf["index"] < int(size) and includes(plain(root).hex(), digest, leaf["index"], int(size), list(map(plain, leaf["path"]))),
               f"checkpoint {seals[leaf['checkpoint']]['number']} isn't in the tree of the note")
    signature, *cosignatures = lines[:-1].split("\n")
    plain(signature.rpartition(" ")[2])
    keys = {bytes.fromhex(seals[checkpoint]["note_key"]) for checkpoint in named if "note_key" in seals[checkpoint]}
    signers = [raw for raw in keys if signs_note(text + "\n", signature, origin, raw)]
    demand(signers, "the receipt has a note that no key of its checkpoints signed")
    demand(not policy or any(policy.has_log(origin, raw) for raw in signers), f"the policy lacks its log {origin}")
    return origin, size, dict(receipt_witnesses(text + "\n", cosignatures, policy)), len(cosignatures)


def receipt_witnesses(text, lines, policy):
    for line in lines:
        cosigned = cosignature(line, policy.witnesses if policy else {})
        if cosigned:
            name, key, time, signature = cosigned
            demand(cosigns(text, key, time, signature), f"the receipt has an invalid cosignature of {name}")
            yield name, time * 1_000_000


def demand_quorum(head, rows, seals, policy):
    """What is in the note's tree had happened when it was cosigned."""
    cosigned = head[2]
    demand(policy.is_met(cosigned), "the receipt lacks the quorum of the policy's witnesses")
    times = [micros(seal["sealed_at"], 9) for seal in seals]
    times += [int(row["occurred_at" if kind == "event" else "changed_at"]) for kind, row, seal in rows if seal in seals]
    demand(max(times) <= min(cosigned.values(), default=max(times)) + OUTSIDE, "the receipt has a time after a witness cosigned it")


def receipt_lines(steps, changes, seals, head, policy):
    first = next(iter(steps.values()))
    yield (f"Mint {first['mint_id']}: key {first['key']} of tenant {first['tenant']}, for {first['subject']} ({first['issuer']})"
           + (f", by {first['actor']} ({first['actor_issuer']})" if first["actor"] else ""))
    for row in steps.values():
        yield "  " + ", ".join([f"{row['kind']} at {moment(int(row['occurred_at']))}"]
                               + [f"{name} {row[column]}" for name, column in (("reason", "reason"), ("credential", "credential_id"))
                                  if row[column]]
                               + ([f"until {moment(int(row['expires_at']))}"] if row["expires_at"] else []))
    for row, after in changes:
        yield (f"  {row['table_name']} {after['id']}, revision {row['revision']} of {row['tenant']}: {row['operation']} by {row['changed_by']} "
               f"at {moment(int(row['changed_at']))}" + "".join(f", {name} {after[name]}" for name in ("verdict", "reason") if after.get(name)))
    if "1" in steps and not changes:
        yield "note: the receipt doesn't have the grant"
    for seal in seals:
        yield f"  sealed by checkpoint {seal['number']} of {seal['sealed_at']}, key {seal['key']}"
    if head:
        yield f"  in the tree of the log {head[0]} with {head[1]} checkpoints, as its note says"
        for name, at in head[2].items():
            yield f"  cosigned by {name} at {moment(at)}"
        if head[3] > len(head[2]):
            yield (f"note: {head[3] - len(head[2])} cosignatures were made by keys that the policy doesn't list" if policy
                   else f"note: it has {head[3]} cosignatures, which only --policy checks")
    yield ("These rows are in the log that the key signs, unchanged. A receipt doesn't show that the log has no other row, nor that a "
           "row is true.")


def judge_receipt(file, policy):
    try:
        with open(file, "rb") as receipt:
            raw = receipt.read(LARGEST_RECEIPT + 1)
    except OSError as e:
        sys.exit(f"{e.filename} can't be read ({e.strerror}), so nothing is proven")
    try:
        demand(len(raw) <= LARGEST_RECEIPT, "the receipt is too large")
        for line in list(read_receipt(raw, policy)):
            say(line)
        if arguments.kept_lines:
            say("note: %d of its %d checkpoints are among those that were kept" % require_kept(raw, arguments.kept_lines))
    except Unproven as why:
        wrong(f"the receipt proves nothing: {why}")
        return 1
    if not trusted:
        say("note: no --key was given, so compare the key above with the one that you know")
    return 0 if trusted else 3


# ---------------------------------------------------------------- the whole


def keys_of(file, known):
    with open(file, encoding="latin-1") as text:
        blocks = re.findall("-----BEGIN PUBLIC KEY-----(.*?)-----END PUBLIC KEY-----", text.read(), re.S)
    for block in blocks:
        der = base64.b64decode(block)
        if not der.startswith(P256) or len(der) != len(P256) + 64:
            sys.exit(f"{file} holds a key that isn't P-256")
        known[thumbprint(der[len(P256):])] = der[len(P256):]
    if not known:
        sys.exit(f"{file} holds no public key, so nothing can be proven")


def judge_missing(seals):
    for (kind, chain), heads in seals.items():
        for at in heads:
            if kind == "event" and is_excused(chain, at):
                continue
            if not any(kind == "event" and p["first"] <= at <= p["last"] for p, _ in parts.get(chain, ())):
                wrong(f"row {at} of {kind} chain {chain} was sealed, but is missing")
    for retired in months:
        if retired.kept:
            say(f"note: {retired.kept} of the {retired.rows} rows that were retired with {retired.name} are here")
        if retired.standing:
            wrong(f"Checkpoint {retired.number} retired {retired.name}, but the log still has rows of that month "
                  f"or of this retirement: {retired.standing} in all, for example {retired.first_standing}")


def verdict(held, last, time):
    if problems:
        return "The log is NOT proven."
    if part:
        return f"Nothing in this part, after checkpoint {part[0]} and up to checkpoint {part[1]}, was changed, and nothing in it is missing."
    newest = f"The newest checkpoint is number {last}, {ago(time)}."
    if arguments.kept:
        return newest + " Nothing was changed, and nothing is missing up to the last checkpoint that was kept."
    return newest + (" Nothing was changed up to it. This run can't detect whether later rows were removed together with their"
                     " checkpoints. To detect that, pass checkpoints that were kept elsewhere.")


def main():
    global arguments, log, witnesses
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("keys", nargs="?", metavar="trusted.pem", help="the public keys to trust")
    parser.add_argument("kept", nargs="?", metavar="kept.jsonl", help="checkpoints that were kept elsewhere")
    parser.add_argument("--export", nargs="+", default=[], metavar="FILE", help="an export, instead of a database; put it last")
    parser.add_argument("--accept-gap", action="append", default=[], metavar="HASH", help="a declaration to accept, by its hash")
    parser.add_argument("--cell-keys", metavar="FILE", help="the public audit keys of cells from which tenants came")
    parser.add_argument("--policy", metavar="FILE", help="the witnesses that must have cosigned the log (c2sp.org/tlog-policy)")
    parser.add_argument("--receipt", metavar="FILE", help="a receipt of audit prove, instead of a log")
    parser.add_argument("--key", metavar="FILE", help="the public keys to trust, for a receipt")
    parser.add_argument("--kept", dest="kept_lines", metavar="FILE", help="checkpoints that were kept elsewhere, for a receipt")
    arguments = parser.parse_args()
    sys.stdout.reconfigure(errors="backslashreplace")
    policy = read_policy(arguments.policy) if arguments.policy else None
    for file in filter(None, (arguments.keys, arguments.kept, arguments.cell_keys, arguments.key, arguments.kept_lines)):
        try:
            open(file, "rb").close()
        except OSError as e:
            sys.exit(f"{e.filename} can't be read ({e.strerror}), so nothing is proven")
    if arguments.receipt:
        if arguments.key:
            keys_of(arguments.key, trusted)
        sys.exit(judge_receipt(arguments.receipt, policy))
    if not arguments.keys:
        parser.error("name the file trusted.pem, or use --receipt FILE")
    keys_of(arguments.keys, trusted)
    if arguments.cell_keys:
        keys_of(arguments.cell_keys, cells)
    log = Export(arguments.export) if arguments.export else Database()
    if policy and part:
        wrong("a part of a log lacks the earlier checkpoints, so the cosignatures of witnesses can't be checked; export the whole log")
    elif policy:
        witnesses = Witnesses(policy)
    seals, held, last, time = checkpoints(arguments.kept)
    changes, fresh_changes = chains("change", CHANGE, "audit.config_change", "tenant", "revision", "changed_at", seals, note_change)
    judge_late()
    events, fresh_events = chains("event", EVENT, "audit.event", "chain", "seq", "occurred_at", seals, judge_mint)
    end_of_mints()
    judge_missing(seals)
    judge_trees()
    if witnesses:
        witnesses.end()
    fresh = fresh_events + fresh_changes
    if part and fresh:
        wrong(f"{fresh} rows of this part are not sealed by any of its checkpoints")
    log.compare_tables()
    say(f"{events} events and {changes} changes sealed by {held} checkpoints, "
        f"{fresh} of them not sealed yet, {problems} problems, {len(unaccepted)} declarations or doubts")
    say(verdict(held, last, time))
    sys.exit(1 if problems else 3 if unaccepted else 0)


if __name__ == "__main__":
    main()
