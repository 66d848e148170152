"""SQLAlchemy logs in with the file of a login, by the lines of docs/clients/databases.md."""

import os
import pathlib
import re
import subprocess
import tempfile

import psycopg
import sqlalchemy
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

PAGE = pathlib.Path(os.environ["DOCUMENTS"], "clients", "databases.md").read_text()
ADDRESS = os.environ["POSTGRES"]


def user_of(connection):
    return connection.execute(text("SELECT current_user")).scalar_one()


def end_of(login):
    """What the broker does at a login's end."""
    with psycopg.connect(f"postgresql://postgres@{ADDRESS}/postgres", autocommit=True) as server:
        server.execute(f"ALTER ROLE {login} PASSWORD NULL")
        server.execute("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = %s", [login])


with tempfile.TemporaryDirectory() as directory:

    def write():
        command = [os.environ["MINTMARK_CLIENT"], "agent", "--write", directory, "--once", "orders-login"]
        subprocess.run(command, check=True)

    write()
    block = re.search("```python\n(.*?)```", PAGE, re.DOTALL).group(1)
    block = block.replace("/run/mintmark", directory).replace("db.acme.example/orders", ADDRESS + "/postgres")
    names = {}
    exec(block, names)
    engine = names["engine"]

    with engine.connect() as one:
        first = user_of(one)
        assert first.startswith("mm_"), first
        write()
        with engine.connect() as two:
            second = user_of(two)
            assert second.startswith("mm_") and second != first, second
        assert user_of(one) == first
        end_of(first)
        try:
            user_of(one)
            raise AssertionError("a connection outlived its login")
        except OperationalError as e:
            assert e.connection_invalidated, e
    end_of(second)
    write()
    with engine.connect() as three:
        assert user_of(three) not in (first, second)
    engine.dispose()

print("SQLAlchemy", sqlalchemy.__version__, "psycopg", psycopg.__version__)
