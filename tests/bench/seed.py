"""The data directory that ours and its twin serve: the demo's rows, and e-mails up to 100,000 in its first workspace."""
import hashlib
import pathlib
import shutil
import sqlite3

EMAILS = 100_000
# The e-mails of the demo are copied round and round, each copy a minute older than the one before.
COPIES = """
WITH RECURSIVE
  source AS (SELECT row_number() OVER (ORDER BY received_at) - 1 AS place, * FROM emails WHERE workspace_id = :workspace),
  size AS (SELECT count(*) AS rows, min(received_at) AS oldest FROM source),
  number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < :copies)
INSERT INTO emails ({columns})
SELECT {values} FROM number JOIN size JOIN source ON source.place = number.n % size.rows
"""
# What a copy has of its own; everything else is the original's.
OWN = {
    "id": "randomblob(16)",
    "message_id": "'<copy-' || n || '@bench.example>'",
    "received_at": "oldest - n * 60000000",
    "created_at": "oldest - n * 60000000",
    "updated_at": "oldest - n * 60000000",
}


def directory(root, make_demo):
    """The seeded directory, made once for each version of this file; `make_demo` makes one with the demo's rows."""
    key = hashlib.sha256(pathlib.Path(__file__).read_bytes()).hexdigest()[:12]
    place = root / f"seed-{key}"
    if not place.exists():
        half = root / "seed.part"
        shutil.rmtree(half, ignore_errors=True)
        make_demo(half)
        fill(half)
        for old in root.glob("seed-*"):
            shutil.rmtree(old)
        half.rename(place)
    return place


def fill(place):
    database = sqlite3.connect(place / "kobana.sqlite")
    columns = [row[1] for row in database.execute("PRAGMA table_info(emails)")]
    values = [OWN.get(column, f"source.{column}") for column in columns]
    workspace, there = database.execute("SELECT workspace_id, count(*) FROM emails GROUP BY 1 ORDER BY 2 DESC").fetchone()
    statement = COPIES.format(columns=", ".join(columns), values=", ".join(values))
    with database:
        database.execute(statement, {"workspace": workspace, "copies": EMAILS - there})
        database.execute("INSERT INTO email_bodies (email_id, workspace_id, text) "
                         "SELECT id, workspace_id, subject FROM emails WHERE id NOT IN (SELECT email_id FROM email_bodies)")
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()


def subjects(place):
    """The ids of the e-mail whose body is 200 KiB long, and of an agent of the same workspace."""
    database = sqlite3.connect(f"file:{place / 'kobana.sqlite'}?mode=ro", uri=True)
    email, workspace = database.execute("SELECT email_id, workspace_id FROM email_bodies WHERE length(CAST(text AS BLOB)) = 204800").fetchone()
    (agent,) = database.execute("SELECT id FROM agents WHERE workspace_id = ? AND deleted_at IS NULL LIMIT 1", (workspace,)).fetchone()
    database.close()
    return uuid(email), uuid(agent)


def uuid(raw):
    text = raw.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))
