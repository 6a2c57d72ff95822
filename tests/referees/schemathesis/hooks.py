"""What schemathesis cannot know of itself: raw messages, refusals that no schema foretells, and what to count."""
import atexit
import collections
import json
import os

import schemathesis
from hypothesis import strategies as st
from schemathesis.core.parameters import ParameterLocation
from schemathesis.openapi.checks import RejectedPositiveData

WORKSPACE = "X-Workspace-Id"

HEADERS = [b"From: a@b.example", b"To: acme-support@inbox.example", b"Subject: =?utf-8?q?cobran=C3=A7a?=", b"MIME-Version: 1.0"]

# Problems of requests that fit their schema: each is a rule between several members, or about what the server holds.
RULES = {
    # Whoever made a second workspace has to say which one is meant.
    "expected the UUID or external_id of one of the workspaces within reach",
    # Opaque: one that no list gave out is refused, whatever it looks like.
    "expected meta.next_cursor of the same list with the same filters",
    # What an upsert needs only where the row is not there yet.
    "is required to create it",
    # The members that go with the kind of `auth`.
    "is required with auth basic",
    "is required with auth bearer",
    "is required with auth header",
    # Text, but none for a header of HTTP.
    "cannot be sent in an HTTP header",
    # The address of remove-allowed-recipient, which body and query may carry.
    "must be the same in the body and in the query",
    "is required, in the body or in the query",
    # The contract names no largest integer; the store has one.
    "expected a smaller number",
    # Any bytes fit the schema of a file.
    "the bytes are no message in the form of RFC 5322",
}


def message(headers, body):
    return b"\r\n".join([*headers, b"", body])


schemathesis.openapi.media_type(
    "message/rfc822",
    st.one_of(st.binary(max_size=500), st.builds(message, st.lists(st.sampled_from(HEADERS), unique=True), st.binary(max_size=200))),
)


# No component comes of chance. What begins like one goes a step further than what does not.
schemathesis.openapi.media_type("application/wasm", st.builds(bytes.__add__, st.sampled_from([b"", b"\0asm\r\0\1\0"]), st.binary(max_size=200)))


@schemathesis.serializer("message/rfc822", "application/wasm")
def as_it_is(ctx, value):
    return value if isinstance(value, bytes) else str(value).encode()


def problems(response):
    """All problems that a 400 tells of."""
    details = response.json()["error"]["details"]
    return {problem for found in [*details["field_errors"].values(), details.get("form_errors", [])] for problem in found}


@schemathesis.hook
def filter_failure(ctx, failure, case, response):
    if not isinstance(failure, RejectedPositiveData) or response.status_code != 400:
        return True
    # Any bytes fit the schema of a component, too; what is wrong with them is put in many words.
    return operation_id(case) != "add-extension" and not problems(response) <= RULES


turns = collections.Counter()
seen = collections.defaultdict(collections.Counter)


def operation_id(case):
    return case.operation.definition.raw["operationId"]


@schemathesis.hook
def before_call(ctx, case, kwargs):
    """Puts a workspace in reach where a generated one would do: else most requests would end there. One in four is left alone."""
    part = case.meta.components.get(ParameterLocation.HEADER) if case.meta else None
    if part and part.mode.is_positive and WORKSPACE in (case.headers or {}):
        turns[operation_id(case)] += 1
        if turns[operation_id(case)] % 4:
            case.headers[WORKSPACE] = "acme"


@schemathesis.hook
def after_call(ctx, case, response):
    seen[operation_id(case)][response.status_code] += 1


@atexit.register
def report():
    if path := os.environ.get("STATUSES"):
        with open(path, "w") as file:
            json.dump(seen, file)
