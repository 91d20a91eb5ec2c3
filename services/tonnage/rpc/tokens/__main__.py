"""``python -m tonnage.rpc.tokens create|list|revoke``: the tokens of a file; no server is asked.

Ends with 0, or with 2 on bad input.
"""

from __future__ import annotations

import argparse
import json
import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tonnage.access import SCOPES
from tonnage.errors import InvalidInput
from tonnage.rpc.tokens.book import Token, TokenBook, utc_now
from tonnage.rpc.tokens.file import changing

if TYPE_CHECKING:
    from collections.abc import Sequence

EXIT_OK = 0
EXIT_BAD_INPUT = 2


def _create(asked: argparse.Namespace, now: datetime) -> tuple[dict[str, Any], list[str]]:
    expires = None if asked.days is None else now + timedelta(days=asked.days)
    namespaces = tuple(asked.namespace) if asked.namespace else None
    with changing(asked.file) as write:
        book = TokenBook.from_file(asked.file) if asked.file.exists() else TokenBook.of(())
        book, secret = book.create(asked.name, tuple(asked.scope), namespaces, now=now, expires=expires)
        write(book)
    # The one time the secret is shown; the file holds its digest.
    return {**_row(book.tokens[-1], now), "token": secret}, [secret]


def _list(asked: argparse.Namespace, now: datetime) -> tuple[dict[str, Any], list[str]]:
    rows = [_row(token, now) for token in TokenBook.from_file(asked.file).tokens]
    words = [
        f"{row['name']:<24} {row['state']:<8} {','.join(row['scopes']):<24} "
        f"{','.join(row['namespaces'] or ['all namespaces'])}  {row['expires'] or 'no expiry'}"
        for row in rows
    ]
    return {"tokens": rows}, words


def _revoke(asked: argparse.Namespace, now: datetime) -> tuple[dict[str, Any], list[str]]:
    with changing(asked.file) as write:
        book = TokenBook.from_file(asked.file).revoke(asked.name, now)
        write(book)
    (token,) = (token for token in book.tokens if token.name == asked.name)
    return _row(token, now), [f"{token.name} is revoked; servers know within a second or two"]


def _row(token: Token, now: datetime) -> dict[str, Any]:
    found = token.model_dump(mode="json", exclude={"sha256"})
    return {**found, "state": token.state(now)}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tonnage.rpc.tokens")
    parser.add_argument("--file", type=Path, required=True)
    parser.add_argument("--json", dest="as_json", action="store_true")
    commands = parser.add_subparsers(required=True)
    create = commands.add_parser("create")
    create.add_argument("name")
    create.add_argument("--scope", action="append", required=True, choices=SCOPES)
    create.add_argument("--namespace", action="append")
    create.add_argument("--days", type=_days)
    create.set_defaults(do=_create)
    commands.add_parser("list").set_defaults(do=_list)
    revoke = commands.add_parser("revoke")
    revoke.add_argument("name")
    revoke.set_defaults(do=_revoke)
    return parser


def _days(text: str) -> float:
    days = float(text)
    if not 0 < days <= 36_500:  # noqa: PLR2004 -- a hundred years
        raise argparse.ArgumentTypeError("days: give more than 0 and at most 36500")
    return days


def main(arguments: Sequence[str]) -> int:
    """Run one command and return its exit status."""
    asked = _parser().parse_args(arguments)
    try:
        answer, words = asked.do(asked, utc_now())
    except InvalidInput as error:
        sys.stderr.write(f"error: {error}\n")
        return EXIT_BAD_INPUT
    sys.stdout.write(json.dumps(answer) + "\n" if asked.as_json else "".join(f"{line}\n" for line in words))
    return EXIT_OK


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
