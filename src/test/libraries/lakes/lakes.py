"""Polars, delta-rs, DuckDB, pyarrow and s3fs read tables with the credentials of a broker.

Each tool reads in a process of its own by each route that docs/clients/aws.md names for it. The bucket is a
stand-in that keeps who signed each request.
"""

import importlib.metadata
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BROKER = os.environ["MINTMARK_URL"]
TOKEN_FILE = os.environ["MINTMARK_TOKEN_FILE"]
CONTAINER = {
    "AWS_CONTAINER_CREDENTIALS_FULL_URI": BROKER + "/sdk/aws/deploy",
    "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": TOKEN_FILE,
}
STS = {
    "AWS_ENDPOINT_URL_STS": BROKER + "/sdk/sts",
    "AWS_WEB_IDENTITY_TOKEN_FILE": TOKEN_FILE,
    "AWS_ROLE_ARN": "arn:aws:iam::000000000000:role/deploy",
    "AWS_ROLE_SESSION_NAME": "lake",
}

POLARS = """
import polars
options = {"aws_endpoint_url": BUCKET, "aws_region": "eu-central-1", "aws_allow_http": "true"}
print(polars.read_parquet("s3://lake/rows.parquet", storage_options=options)["n"].sum())
"""
DELTA = """
import deltalake
options = {"AWS_ENDPOINT_URL": BUCKET, "AWS_ALLOW_HTTP": "true"}
print(sum(deltalake.DeltaTable("s3://lake/table", storage_options=options).to_pyarrow_table()["n"].to_pylist()))
"""
DUCKDB = """
import duckdb
import duckdb_extension_aws, duckdb_extension_httpfs, pathlib
database = duckdb.connect()
for package in (duckdb_extension_httpfs, duckdb_extension_aws):
    [file] = pathlib.Path(package.__file__).parent.rglob("*.duckdb_extension")
    database.execute(f"LOAD '{file}'")
database.execute(
    "CREATE SECRET (TYPE s3, PROVIDER credential_chain, REGION 'eu-central-1',"
    " ENDPOINT '" + BUCKET.removeprefix("http://") + "', USE_SSL false, URL_STYLE path)")
print(database.execute("SELECT sum(n) FROM 's3://lake/rows.parquet'").fetchone()[0])
"""
PYARROW = """
from pyarrow import fs, parquet
bucket = fs.S3FileSystem(endpoint_override=BUCKET, region="eu-central-1", scheme="http")
print(sum(parquet.read_table("lake/rows.parquet", filesystem=bucket)["n"].to_pylist()))
"""
S3FS = """
import io
import s3fs
from pyarrow import parquet
read = s3fs.S3FileSystem(endpoint_url=BUCKET).cat_file("lake/rows.parquet")
print(sum(parquet.read_table(io.BytesIO(read))["n"].to_pylist()))
"""

# Threads of delta-rs now and then abort an interpreter that ends in order, after all was read.
END = """
import os, sys
sys.stdout.flush()
os._exit(0)
"""


class Bucket(BaseHTTPRequestHandler):
    """Serves the files of a directory as the bucket 'lake', and lists them."""

    protocol_version = "HTTP/1.1"
    directory = pathlib.Path()
    signed = []

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        key = re.search("Credential=([^/]+)", self.headers.get("Authorization", ""))
        self.signed.append((key.group(1) if key else None, self.headers.get("x-amz-security-token")))
        path, _, query = self.path.partition("?")
        file = self.directory / path.removeprefix("/lake/").rstrip("/")
        if "list-type" in query or path.rstrip("/") == "/lake":
            self.answer(200, self.listing(re.search("prefix=([^&]*)", query)).encode(), {})
        elif file.is_file():
            self.serve(file.read_bytes())
        else:
            self.answer(404, b"<Error><Code>NoSuchKey</Code><Message>no</Message></Error>", {})

    def serve(self, content):
        headers = {"ETag": '"x"', "Last-Modified": "Thu, 01 Jan 2026 00:00:00 GMT", "Accept-Ranges": "bytes"}
        span = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
        if not span:
            self.answer(200, content, headers)
            return
        first = int(span.group(1) or max(0, len(content) - int(span.group(2))))
        last = min(int(span.group(2) or len(content) - 1), len(content) - 1) if span.group(1) else len(content) - 1
        headers["Content-Range"] = f"bytes {first}-{last}/{len(content)}"
        self.answer(206, content[first : last + 1], headers)

    def listing(self, prefix):
        prefix = prefix.group(1).replace("%2F", "/") if prefix else ""
        names = [file.relative_to(self.directory).as_posix() for file in self.directory.rglob("*") if file.is_file()]
        return (
            '<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>lake</Name>'
            "<IsTruncated>false</IsTruncated>"
            + "".join(
                f"<Contents><Key>{name}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>x</ETag>"
                f"<Size>{(self.directory / name).stat().st_size}</Size></Contents>"
                for name in sorted(names)
                if name.startswith(prefix)
            )
            + "</ListBucketResult>"
        )

    def answer(self, status, body, headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_):
        pass


def reads(program, route, url):
    """Runs a program, and returns its failure if it did not read with the broker's credentials."""
    Bucket.signed.clear()
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": os.environ["HOME"],
        "AWS_REGION": "eu-central-1",
        "AWS_DEFAULT_REGION": "eu-central-1",
        "AWS_EC2_METADATA_DISABLED": "true",
        **route,
    }
    try:
        ended = subprocess.run(
            [sys.executable, "-c", f"BUCKET = {url!r}\n{program}{END}"],
            env=environment, capture_output=True, text=True, check=False, timeout=120,
        )
    except subprocess.TimeoutExpired:
        return "no end within two minutes"
    if ended.returncode != 0 or ended.stdout.split() != ["6"]:
        return (ended.stdout + ended.stderr)[-1500:]
    if not Bucket.signed or not all(key and key.startswith("ASIA") and token for key, token in Bucket.signed):
        return f"requests were signed by {Bucket.signed}"
    return None


def write_tables(directory):
    import deltalake
    import pyarrow
    from pyarrow import parquet

    rows = pyarrow.table({"n": [1, 2, 3]})
    parquet.write_table(rows, directory / "rows.parquet")
    deltalake.write_deltalake(str(directory / "table"), rows)


READERS = [
    ("polars", POLARS, CONTAINER),
    ("deltalake", DELTA, CONTAINER),
    ("duckdb", DUCKDB, CONTAINER),
    ("pyarrow", PYARROW, CONTAINER),
    ("s3fs", S3FS, CONTAINER),
    ("s3fs", S3FS, STS),
]

with tempfile.TemporaryDirectory() as directory:
    write_tables(pathlib.Path(directory))
    Bucket.directory = pathlib.Path(directory)
    bucket = ThreadingHTTPServer(("127.0.0.1", 0), Bucket)
    threading.Thread(target=bucket.serve_forever, daemon=True).start()
    found = {}
    for name, program, route in READERS:
        how = "container" if route is CONTAINER else "STS"
        found[f"{name} {how}"] = reads(program, route, f"http://127.0.0.1:{bucket.server_port}")
    failed = {reader: failure for reader, failure in found.items() if failure}
    assert not failed, json.dumps(failed, indent=1)

print(*(f"{name} {importlib.metadata.version(name)}" for name in ("polars", "deltalake", "duckdb", "pyarrow", "s3fs")))
