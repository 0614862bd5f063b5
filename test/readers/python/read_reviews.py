"""Keeps the newest review of each payment in a database. Usage: python read_reviews.py FraudReview.avsc reviews.db"""

import functools
import io
import json
import os
import signal
import sqlite3
import sys
import urllib.request
from datetime import datetime, timedelta, timezone

from confluent_kafka import Consumer, KafkaException
from fastavro import parse_schema, schemaless_reader

schema_file = sys.argv[1] if len(sys.argv) > 1 else "FraudReview.avsc"
database_file = sys.argv[2] if len(sys.argv) > 2 else "reviews.db"
registry_url = os.environ.get("SCHEMA_REGISTRY_URL", "http://127.0.0.1:8081").rstrip("/")
topic = os.environ.get("TOPIC_REVIEWS", "fraud.reviews")
epoch = datetime(1970, 1, 1, tzinfo=timezone.utc)

with open(schema_file, encoding="utf-8") as file:
    reader_schema = parse_schema(json.load(file))

db = sqlite3.connect(database_file, isolation_level=None)
db.executescript("""
  create table if not exists seen (account text, event_id text, primary key (account, event_id));
  create table if not exists review (
    account text, trans_id text, event_id text, decision text, reviewed_at integer, primary key (account, trans_id)
  )""")
note_event = "insert into seen values (:account, :event_id) on conflict do nothing"
keep_newest = """
  insert into review values (:account, :trans_id, :event_id, :decision, :reviewed_at)
  on conflict (account, trans_id) do update
  set event_id = excluded.event_id, decision = excluded.decision, reviewed_at = excluded.reviewed_at
  where (excluded.reviewed_at, excluded.event_id) > (review.reviewed_at, review.event_id)"""


@functools.cache
def writer_schema(schema_id):
    with urllib.request.urlopen(f"{registry_url}/schemas/ids/{schema_id}", timeout=10) as answer:
        return parse_schema(json.loads(json.load(answer)["schema"]))


def decode(value):
    """Confluent framing: byte 0, 4 bytes of schema id, then the Avro value."""
    if len(value) < 5 or value[0] != 0:
        raise ValueError("not in Confluent framing")
    writer = writer_schema(int.from_bytes(value[1:5], "big"))
    review = schemaless_reader(io.BytesIO(value[5:]), writer, reader_schema)
    review["reviewed_at"] = (review["reviewed_at"] - epoch) // timedelta(microseconds=1)
    return review


def keep(review):
    """Both rows or neither, so that a crash in between is only a repeat."""
    row = {name: review[name] for name in ("account", "trans_id", "event_id", "decision", "reviewed_at")}
    db.execute("begin immediate")
    try:
        is_new = db.execute(note_event, {name: row[name] for name in ("account", "event_id")}).rowcount > 0
        is_newest = is_new and db.execute(keep_newest, row).rowcount > 0
        db.execute("commit")
    except BaseException:
        db.execute("rollback")
        raise
    if not is_new:
        return "duplicate"
    return "newest" if is_newest else "older"


def action_for(decision):
    """Only what is known to be good is released: `unknown` and whatever comes later wait for a person."""
    if decision in ("good", "probably_good"):
        return "release"
    return "cancel" if decision == "bad" else "hold"


running = True


def stop(_signal, _frame):
    global running
    running = False


def security():
    """How the brokers are reached: with TLS, by the authorities of a file or of this machine, and with a user, or not."""
    tls = os.environ.get("KAFKA_TLS") == "true"
    mechanism = os.environ.get("KAFKA_SASL_MECHANISM", "none")
    settings = {"security.protocol": ("" if mechanism == "none" else "sasl_") + ("ssl" if tls else "plaintext")}
    if "KAFKA_TLS_CA_FILE" in os.environ:
        settings["ssl.ca.location"] = os.environ["KAFKA_TLS_CA_FILE"]
    if mechanism != "none":
        settings["sasl.mechanism"] = mechanism.upper()
        settings["sasl.username"] = os.environ["KAFKA_SASL_USERNAME"]
        settings["sasl.password"] = os.environ["KAFKA_SASL_PASSWORD"]
    return settings


signal.signal(signal.SIGTERM, stop)
signal.signal(signal.SIGINT, stop)

consumer = Consumer(security() | {
    "bootstrap.servers": os.environ.get("KAFKA_BROKERS", "127.0.0.1:9092"),
    "group.id": os.environ.get("KAFKA_GROUP_ID", "read-reviews"),
    "auto.offset.reset": "earliest",
    "enable.auto.commit": False,
})
consumer.subscribe([topic])
try:
    while running:
        message = consumer.poll(1.0)
        if message is None:
            continue
        if message.error():
            # A topic or a right is missing: lost connections and moved leaders it mends by itself, and does not tell.
            raise KafkaException(message.error())
        # What cannot be worked on is not passed over: the process ends, and begins there when it is started again.
        if message.value() is not None:
            review = decode(message.value())
            outcome = keep(review)
            line = {"outcome": outcome, "trans_id": review["trans_id"], "decision": review["decision"]}
            print(json.dumps(line | {"action": action_for(review["decision"])}), flush=True)
        # After the work: a crash before this line repeats the record, and the database knows its event_id.
        consumer.commit(message=message, asynchronous=False)
finally:
    consumer.close()
