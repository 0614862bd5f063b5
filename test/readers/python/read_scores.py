"""Keeps the decision on each payment in a database. Usage: python read_scores.py FraudScore.avsc scores.db"""

import functools
import io
import json
import os
import signal
import sqlite3
import sys
import urllib.request

from confluent_kafka import Consumer, KafkaException
from fastavro import parse_schema, schemaless_reader

schema_file = sys.argv[1] if len(sys.argv) > 1 else "FraudScore.avsc"
database_file = sys.argv[2] if len(sys.argv) > 2 else "scores.db"
registry_url = os.environ.get("SCHEMA_REGISTRY_URL", "http://127.0.0.1:8081").rstrip("/")
topic = os.environ.get("TOPIC_SCORES", "fraud.scores")

with open(schema_file, encoding="utf-8") as file:
    reader_schema = parse_schema(json.load(file))

db = sqlite3.connect(database_file, isolation_level=None)
db.execute("""
  create table if not exists payment (
    account text, trans_id text, decision text, failure text, score real, position integer,
    primary key (account, trans_id)
  )""")
# The last record of a payment counts, but a failure never replaces a decision. Repeats and re-reading change nothing.
keep_last = """
  insert into payment values (:account, :trans_id, :decision, :failure, :score, :position)
  on conflict (account, trans_id) do update
  set decision = excluded.decision, failure = excluded.failure, score = excluded.score, position = excluded.position
  where excluded.position > payment.position and (excluded.failure is null or payment.failure is not null)"""


@functools.cache
def writer_schema(schema_id):
    with urllib.request.urlopen(f"{registry_url}/schemas/ids/{schema_id}", timeout=10) as answer:
        return parse_schema(json.loads(json.load(answer)["schema"]))


def decode(value):
    """Confluent framing: byte 0, 4 bytes of schema id, then the Avro value."""
    if len(value) < 5 or value[0] != 0:
        raise ValueError("not in Confluent framing")
    writer = writer_schema(int.from_bytes(value[1:5], "big"))
    return schemaless_reader(io.BytesIO(value[5:]), writer, reader_schema)


def keep(score, position):
    row = {name: score[name] for name in ("account", "trans_id", "decision", "failure", "score")}
    return "stored" if db.execute(keep_last, row | {"position": position}).rowcount > 0 else "kept"


def action_for(decision):
    """Only an approval is one: `unknown` and whatever comes later wait for a person."""
    actions = {"approve": "accept", "decline": "reject", "manual_review": "review", "custom": "custom"}
    return actions.get(decision, "hold")


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
    "group.id": os.environ.get("KAFKA_GROUP_ID", "read-scores"),
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
            score = decode(message.value())
            outcome = keep(score, message.offset())
            action = action_for(score["decision"]) if outcome == "stored" else "none"
            line = {"outcome": outcome, "trans_id": score["trans_id"], "decision": score["decision"]}
            print(json.dumps(line | {"action": action}), flush=True)
        # After the work: a crash before this line repeats the record, and the database knows its position.
        consumer.commit(message=message, asynchronous=False)
finally:
    consumer.close()
