#!/usr/bin/env python3
"""Compares the OpenAPI document that a server gives away with the contract file, structurally.

    openapi.py BASE CONTRACT

BASE is the address of a server, CONTRACT the file inbox-api.yaml. Both sides are read alike: references are followed, `allOf` is
merged, words of explanation are left out. One line for each operation, component and other part; below a part that differs, each
difference. What is meant to differ is listed in INTENDED with its reason; an entry that matches nothing is stale and fails. The
last line is `N passed, N failed`; the exit status is 1 if any failed.
"""
import json
import re
import sys
import urllib.request

import yaml

METHODS = ("get", "put", "post", "delete", "patch")
# Words for people, which say nothing of the form.
PROSE = {"description", "examples", "title"}

# The two schemas of a UUID, and of a UUID or an external_id.
WIDER = r'(format: contract "uuid", here null|minLength: contract null, here 1|maxLength: contract null, here 128)$'

# What came after the contract, whole: operations of these tags, schemas whose names begin like this, these permissions.
ADDED_TAGS = {"Extensions"}
ADDED_SCHEMAS = re.compile(r"Extension")
ADDED_PERMISSIONS = {"extensions.manage"}

# Differences that are meant: what they match, and why. A difference reads `PART PLACE: contract X, here Y`.
INTENDED = [
    # Where a filter or a body takes the id of an inbox or agent, its external_id is accepted too: a decision that came after the
    # contract. Answers hold UUIDs only, and are not meant here.
    (rf"^\S+ parameters/query/(inbox_id|agent_id)/{WIDER}", "external_id in filters"),
    (rf"^(\S+ body/\S+|schemas/\w+(Create|Update|Upsert) )/?properties/(inbox_id|agent_id)/{WIDER}", "external_id in bodies"),
    # What becomes of a message without Message-ID, on which the contract is silent.
    (r"^ingest-email description: .*A message without Message-ID", "a message without Message-ID"),
]


class Document:
    """A document, read with its references followed."""

    def __init__(self, root):
        self.root = root

    def follow(self, value):
        """The value with what its reference points to; members that stand beside a reference add to it."""
        while isinstance(value, dict) and "$ref" in value:
            target = self.root
            for step in value["$ref"].removeprefix("#/").split("/"):
                target = target[step.replace("~1", "/").replace("~0", "~")]
            value = {**target, **{name: member for name, member in value.items() if name != "$ref"}}
        return value

    def schema(self, value):
        """A schema in its plainest form: no references, no allOf, no prose, lists that are sets as sorted lists."""
        value = self.follow(value)
        if value is True:
            return {}
        if not isinstance(value, dict):
            return value
        value = merged([self.schema(part) for part in value.get("allOf", [])] + [without_prose(value, "allOf")])
        plain = {name: self.keyword(name, member) for name, member in value.items()}
        plain = with_null(plain)
        for name, idle in (("additionalProperties", {}), ("properties", {}), ("required", []), ("default", None)):
            if name in plain and plain[name] == idle:
                del plain[name]
        return plain

    def keyword(self, name, member):
        if name in ("items", "additionalProperties", "not"):
            return self.schema(member)
        if name == "properties":
            return {key: self.schema(shape) for key, shape in member.items()}
        if name in ("anyOf", "oneOf"):
            return [self.schema(shape) for shape in member]
        if name in ("enum", "required", "type") and isinstance(member, list):
            return sorted(set(member), key=str)
        return member


def without_prose(value, *further):
    return {name: member for name, member in value.items() if name not in PROSE and name not in further}


def merged(parts):
    """One schema that says what all parts say."""
    whole = {}
    for part in parts:
        for name, member in part.items():
            if name == "required":
                member = sorted({*whole.get(name, []), *member})
            elif isinstance(member, dict) and isinstance(whole.get(name), dict):
                member = merged([whole[name], member])
            whole[name] = member
    return whole


def with_null(schema):
    """`anyOf: [X, null]` as X with null among its types."""
    choices = schema.get("anyOf", [])
    others = [choice for choice in choices if choice != {"type": "null"}]
    if len(choices) != 2 or len(others) != 1 or "type" not in others[0]:
        return schema
    types = others[0]["type"]
    types = sorted({*(types if isinstance(types, list) else [types]), "null"})
    return {**others[0], **{name: member for name, member in schema.items() if name != "anyOf"}, "type": types}


def promises_more(contract, here):
    lists = [value or [] for value in (contract, here)]
    return all(isinstance(value, list) for value in lists) and set(lists[0]) <= set(lists[1])


def differences(contract, here, place, gives):
    """What differs between two plain values. An answer (`gives`) may promise more members than the contract asks for."""
    if isinstance(contract, dict) and isinstance(here, dict):
        for name in sorted({*contract, *here}):
            yield from differences(contract.get(name), here.get(name), [*place, name], gives)
    elif contract != here and not (gives and place[-1] == "required" and promises_more(contract, here)):
        yield f"{'/'.join(map(str, place))}: contract {json.dumps(contract)}, here {json.dumps(here)}"


def operations(document):
    """Every operation as `(method, path, item, operation)` by its id."""
    found = {}
    for path, item in document.root["paths"].items():
        for method in METHODS:
            if method in item:
                found[item[method]["operationId"]] = (method, path, item, item[method])
    return found


def parameters(document, item, operation):
    """Parameters by place and name, `required` always there."""
    both = [document.follow(p) for p in [*item.get("parameters", []), *operation.get("parameters", [])]]
    return {
        f"{p['in']}/{p['name']}": {"required": p.get("required", False), **document.schema(p["schema"])} for p in both
    }


def contents(document, content):
    return {media: document.schema(shape["schema"]) for media, shape in content.items()}


def takes(document, item, operation):
    body = document.follow(operation.get("requestBody"))
    return {
        "parameters": parameters(document, item, operation),
        "body": body and {"required": body.get("required", False), **contents(document, body["content"])},
    }


def answers(document, operation):
    found = {}
    for status, response in operation["responses"].items():
        response = document.follow(response)
        headers = {name: document.schema(document.follow(h)["schema"]) for name, h in response.get("headers", {}).items()}
        found[status] = {"headers": headers, "content": contents(document, response.get("content", {}))}
    return found


def words(text):
    return " ".join(text.split()) if text else None


def facts(document, operation):
    return {
        "tags": operation["tags"],
        "summary": words(operation.get("summary")),
        "description": words(operation.get("description")),
        "security": operation.get("security", document.root.get("security")),
        "x-permission": operation.get("x-permission"),
        "x-mcp": operation.get("x-mcp"),
    }


def without_added(document):
    """The document without what came after the contract. What there is nothing of is stale, and an error."""
    root = document.root
    named = {name for name in root["components"]["schemas"] if ADDED_SCHEMAS.match(name)}
    words = root["components"]["schemas"]["Permission"]["enum"]
    tags = {tag["name"] for tag in root["tags"]}
    if not (named and ADDED_TAGS <= tags and ADDED_PERMISSIONS <= set(words)):
        sys.exit("openapi.py: what is listed as added is not there")
    for path, item in list(root["paths"].items()):
        for method in METHODS:
            if ADDED_TAGS & set(item.get(method, {}).get("tags", [])):
                del item[method]
        if not item:
            del root["paths"][path]
    root["tags"] = [tag for tag in root["tags"] if tag["name"] not in ADDED_TAGS]
    for name in named:
        del root["components"]["schemas"][name]
    words[:] = [word for word in words if word not in ADDED_PERMISSIONS]
    return document


def compare_operations(contract, here):
    """Pairs of a part's name and its differences."""
    theirs, ours = operations(contract), operations(here)
    for name in sorted({*theirs, *ours}):
        if name not in theirs or name not in ours:
            yield name, [f"is in the {'contract' if name in theirs else 'document'} only"]
            continue
        (method, path, item, operation), (our_method, our_path, our_item, our_operation) = theirs[name], ours[name]
        found = [*differences(f"{method} {path}", f"{our_method} {our_path}", ["place"], False)]
        found += differences(facts(contract, operation), facts(here, our_operation), [], False)
        found += differences(takes(contract, item, operation), takes(here, our_item, our_operation), [], False)
        found += differences(answers(contract, operation), answers(here, our_operation), ["responses"], True)
        yield name, found


# Components that no request of ours holds: what they promise, they may promise more of.
def is_given(name):
    return not re.search(r"(Create|Update|Upsert|Recipient)$", name)


def compare_rest(contract, here):
    theirs, ours = contract.root, here.root
    named = [set(side["components"]["schemas"]) for side in (theirs, ours)]
    yield "schemas", [*differences(*map(sorted, named), ["names"], False)]
    for name in sorted(set.intersection(*named)):
        plain = [side.schema(side.root["components"]["schemas"][name]) for side in (contract, here)]
        yield f"schemas/{name}", [*differences(*plain, [], is_given(name))]
    schemes = [without_prose(side["components"]["securitySchemes"]["bearerAuth"]) for side in (theirs, ours)]
    yield "bearerAuth", [*differences(*schemes, [], False)]
    yield "tags", [*differences(*(sorted(tag["name"] for tag in side["tags"]) for side in (theirs, ours)), ["names"], False)]
    about = [{"version": side["info"]["version"], "title": side["info"]["title"], "servers": side["servers"]} for side in (theirs, ours)]
    yield "info", [*differences(*about, [], False)]
    sent = [{name: takes(side, item, item["post"]) for name, item in side.root["webhooks"].items()} for side in (contract, here)]
    yield "webhooks", [*differences(*sent, [], True)]


def main():
    base, path = sys.argv[1:]
    with urllib.request.urlopen(f"{base}/api/v1/openapi.json") as answer:
        here = without_added(Document(json.load(answer)))
    with open(path) as text:
        contract = Document(yaml.safe_load(text))
    passed = failed = 0
    matched = set()
    for part, found in [*compare_operations(contract, here), *compare_rest(contract, here)]:
        left = []
        for difference in found:
            line = f"{part} {difference}"
            entries = {i for i, (pattern, _) in enumerate(INTENDED) if re.search(pattern, line)}
            matched |= entries
            if not entries:
                left.append(difference)
        passed, failed = passed + (not left), failed + bool(left)
        print(f"{'FAIL' if left else 'ok':<5} {part}")
        for difference in left:
            print(f"        {difference}")
    for i, (pattern, reason) in enumerate(INTENDED):
        if i not in matched:
            failed += 1
            print(f"FAIL  intended-{i}  stale, no difference matches it: {reason} ({pattern})")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
