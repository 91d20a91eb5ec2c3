"""One typed settings object a process, from flags and TONNAGE_ variables; ``python -m tonnage.settings`` lists them."""

from __future__ import annotations

import argparse
import difflib
import os
import sys
from pathlib import Path  # noqa: TC003 -- pydantic reads the annotation at run time
from typing import TYPE_CHECKING, Annotated, Final, Literal, Self, TypeVar

from pydantic import Field, ValidationError, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from tonnage.errors import FieldViolation, InvalidInput, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pydantic.fields import FieldInfo

PREFIX: Final = "TONNAGE_"
# Variables of the client, the command line and the page, which servers leave alone.
CLIENT_VARIABLES: Final = ("TONNAGE_PLANNING", "TONNAGE_INGEST", "TONNAGE_TOKEN", "TONNAGE_TLS_CA")
_LIKE: Final = 0.85
# The port a process is for; --port means it too.
_OWN_PORTS: Final = ("planning_port", "ingest_port")

LogLevel = Literal["debug", "info", "warning", "error"]
Port = Annotated[int, Field(ge=0, le=65_535)]
Bytes = Annotated[int, Field(ge=1024, le=1 << 40)]
Count = Annotated[int, Field(ge=1, le=1_000_000)]
Seconds = Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)]


class ServerSettings(BaseSettings):
    """What both servers share."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, extra="forbid", frozen=True, env_ignore_empty=True, validate_default=True
    )

    store: str = Field(
        description="Store URL: lake:///path/to/folder, or lake+postgres://… (docs/store.md).", min_length=1
    )
    host: str = Field("127.0.0.1", description="Address to listen on; loopback unless said otherwise.", min_length=1)
    max_message_bytes: Bytes = Field(16 << 20, description="Largest message taken or sent.")
    drain_s: Seconds = Field(20.0, description="Time calls in flight get at the end.")
    log_level: LogLevel = Field("info", description="debug, info, warning or error.")
    tls_cert_file: Path | None = Field(None, description="PEM certificate chain; turns TLS on.")
    tls_key_file: Path | None = Field(None, description="PEM private key of the certificate.")
    tls_client_ca_file: Path | None = Field(None, description="PEM authorities; makes client certificates required.")
    token_file: Path | None = Field(None, description="File with the bearer token every call must carry.")
    tokens_file: Path | None = Field(
        None, description="File of tokens with scopes, made by tonnage token; read again when it changes."
    )
    oidc_issuer: str | None = Field(None, description="Issuer whose JWTs are taken; needs audience and key set.")
    oidc_audience: str | None = Field(None, description="Audience a JWT must name.")
    oidc_jwks_url: str | None = Field(
        None, pattern=r"^https?://", description="Where the issuer publishes its keys (JWKS)."
    )
    oidc_namespaces_claim: str = Field(
        "tonnage_namespaces", description="Claim that lists the namespaces a JWT reaches; * is all.", min_length=1
    )
    oidc_leeway_s: Annotated[float, Field(ge=0, le=600, allow_inf_nan=False)] = Field(
        30.0, description="Difference between the clocks of issuer and server that is overlooked."
    )
    reflection: Literal["token", "open", "off"] = Field(
        "token", description="Who may ask for the protos: callers with a token, everybody, nobody."
    )
    audit_file: Path | None = Field(None, description="File that gets a JSON line for each write and each refusal.")
    max_calls_per_s: Annotated[float, Field(gt=0, le=1e6, allow_inf_nan=False)] | None = Field(
        None, description="Calls/s of one identity; twice that at once."
    )
    max_calls_count: Count = Field(1000, description="Calls in flight at once; more are told to come again.")
    max_streams_count: Count = Field(200, description="Calls in flight of one connection; more wait at the client.")
    stream_idle_s: Seconds = Field(60.0, description="Time a stream may send nothing before it is cut.")
    share_port: bool = Field(default=False, description="Let several processes listen on the port (rolling restart).")
    metrics_port: Port | None = Field(None, description="Port of the Prometheus endpoint; 0 lets the system choose.")

    @model_validator(mode="after")
    def _tls_is_whole(self) -> Self:
        if (self.tls_cert_file is None) != (self.tls_key_file is None):
            raise ValueError("tls_cert_file and tls_key_file go together; give both or none")
        if self.tls_client_ca_file is not None and self.tls_cert_file is None:
            raise ValueError("tls_client_ca_file needs tls_cert_file and tls_key_file")
        return self

    @model_validator(mode="after")
    def _oidc_is_whole(self) -> Self:
        parts = (self.oidc_issuer, self.oidc_audience, self.oidc_jwks_url)
        if any(part is None for part in parts) and any(part is not None for part in parts):
            raise ValueError("oidc_issuer, oidc_audience and oidc_jwks_url go together; give all or none")
        return self


class IngestSettings(ServerSettings):
    """Settings of ``python -m tonnage.ingest``."""

    ingest_port: Port = Field(7052, description="Port of the ingest server; 0 lets the system choose.")
    max_report_bytes: Bytes = Field(2 << 30, description="Largest raw report taken.")
    max_runs_bytes: Bytes = Field(256 << 20, description="Largest IngestRuns stream taken.")
    max_uploads_count: Count = Field(32, description="Uploads in flight at once; more come again.")
    max_waiting_commits_count: Count = Field(
        256, description="Uploads waiting for a commit; more are told to come again."
    )
    commit_window_s: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = Field(
        0.02, description="Uploads arriving within this time share one commit."
    )
    maintenance_s: Seconds = Field(600.0, description="Time between two rounds of store maintenance.")
    spool_dir: Path | None = Field(None, description="Folder for uploads in flight; the store's own when not given.")


class PlanningSettings(ServerSettings):
    """Settings of ``python -m tonnage.planning``."""

    planning_port: Port = Field(7051, description="Port of the planning server; 0 lets the system choose.")
    repeat_cache_bytes: Bytes = Field(64 << 20, description="Memory for answers given again to the same request.")


PROCESSES: Final[dict[str, type[ServerSettings]]] = {"ingest": IngestSettings, "planning": PlanningSettings}
S = TypeVar("S", bound=ServerSettings)


def load(kind: type[S], arguments: Sequence[str], environment: Mapping[str, str] = os.environ) -> S:
    """Return the settings of a process; flags win over variables.

    Raises ``InvalidInput`` naming every setting that cannot be used, and variables that look misspelt.
    """
    _refuse_misspelt(environment)
    given = vars(_parser(kind).parse_args(arguments))
    try:
        return kind(**{key: value for key, value in given.items() if value is not None})
    except ValidationError as error:
        violations = tuple(_violations(error))
        raise InvalidInput("; ".join(str(item) for item in violations), violations=violations) from error


def _violations(error: ValidationError) -> Iterator[FieldViolation]:
    for item in error.errors(include_url=False):
        field = ".".join(str(part) for part in item["loc"]) or "settings"
        cure = f"set {variable(field)} or {flag(field)}" if item["loc"] else "see python -m tonnage.settings"
        found = shown(item["input"]) if item["loc"] else ""
        yield FieldViolation(field, found, item["msg"].removeprefix("Value error, "), cure)


def _refuse_misspelt(environment: Mapping[str, str]) -> None:
    known = known_variables()
    for name in environment:
        if not name.startswith(PREFIX) or name in known:
            continue
        near = difflib.get_close_matches(name, known, n=1, cutoff=_LIKE)
        if near:
            raise InvalidInput.field(name, environment[name], "is no setting", f"did you mean {near[0]}?")


def known_variables() -> tuple[str, ...]:
    """Return every variable some process of the product reads."""
    names = {variable(field) for kind in PROCESSES.values() for field in kind.model_fields}
    return tuple(sorted(names.union(CLIENT_VARIABLES)))


def variable(field: str) -> str:
    """Return the variable of a setting."""
    return PREFIX + field.upper()


def flag(field: str) -> str:
    """Return the flag of a setting."""
    return "--" + field.replace("_", "-")


def _parser(kind: type[ServerSettings]) -> argparse.ArgumentParser:
    process = next(name for name, known in PROCESSES.items() if known is kind)
    parser = argparse.ArgumentParser(prog=f"python -m tonnage.{process}", description=kind.__doc__)
    for field, info in kind.model_fields.items():
        names = [flag(field), *(["--port"] if field in _OWN_PORTS else [])]
        parser.add_argument(*names, dest=field, metavar="VALUE", help=f"{info.description} [{_default(info)}]")
    return parser


def _default(info: FieldInfo) -> str:
    if info.is_required():
        return "required"
    return "not set" if info.default is None else str(info.default)


def table() -> str:
    """Return every setting as a Markdown table: variable, flag, default, processes, meaning."""
    lines = ["| variable | flag | default | process | meaning |", "| --- | --- | --- | --- | --- |"]
    shared = ServerSettings.model_fields
    lines += [_row(field, info, "both") for field, info in shared.items()]
    for process, kind in PROCESSES.items():
        lines += [_row(field, info, process) for field, info in kind.model_fields.items() if field not in shared]
    return "\n".join(lines) + "\n"


def _row(field: str, info: FieldInfo, process: str) -> str:
    names = f"`{flag(field)}`" + (", `--port`" if field in _OWN_PORTS else "")
    return f"| `{variable(field)}` | {names} | {_default(info)} | {process} | {info.description} |"


if __name__ == "__main__":
    sys.stdout.write(table())
