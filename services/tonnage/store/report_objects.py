"""Raw reports kept by digest in a bucket, as ``ReportFiles`` keeps them in a folder."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

import obstore
from obstore.exceptions import BaseError, NotFoundError
from obstore.store import S3Store

from tonnage.errors import InvalidInput, NotStored
from tonnage.store.reports import checked, checked_digest, compress

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.store.lake.shared_names import Bucket

_RETRY_S: Final = 10
_TIMEOUT: Final = "15s"


class ReportObjects:
    """Reports as ``<prefix>/reports/<first two digits>/<digest>.zst``; an object is there whole or not at all."""

    def __init__(self, bucket: Bucket) -> None:
        keys = {
            "access_key_id": bucket.key_id,
            "secret_access_key": bucket.key,
            "session_token": bucket.token,
            "endpoint": bucket.endpoint,
        }
        self._store = S3Store(
            bucket.bucket,
            prefix="/".join(part for part in (bucket.prefix, "reports") if part),
            region=bucket.region,
            virtual_hosted_style_request=bucket.endpoint is None,
            client_options={
                "allow_http": (bucket.endpoint or "").startswith("http://"),
                "timeout": _TIMEOUT,
                "connect_timeout": "5s",
            },
            retry_config={"max_retries": 3, "retry_timeout": timedelta(seconds=_RETRY_S)},
            **{name: value for name, value in keys.items() if value is not None},  # type: ignore[arg-type]
        )

    def keep(self, report_id: str, data: BinaryIO) -> None:
        """Keep the bytes of ``data`` durably; raise ``InvalidInput`` when they have another digest, or ``OSError``."""
        key = _key(report_id)
        if self._is_there(key):
            return
        with tempfile.TemporaryDirectory(prefix="tonnage-report-") as folder:
            temporary = Path(folder) / "report.zst"
            found = compress(data, temporary)
            if found != report_id:
                cure = "give the SHA-256 of the bytes"
                raise InvalidInput.field("report_id", report_id, f"is not the digest of the bytes ({found})", cure)
            with _told(), temporary.open("rb") as file:
                obstore.put(self._store, key, file)

    def open(self, report_id: str) -> BinaryIO:
        """Return the bytes, fetched to this machine; raise ``NotStored`` or ``OSError``, and see ``checked``."""
        key = _key(report_id)
        file = tempfile.TemporaryFile()  # noqa: SIM115 -- closed by whoever reads
        try:
            with _told():
                for chunk in obstore.get(self._store, key).stream():
                    file.write(chunk)
        except FileNotFoundError as error:
            file.close()
            raise NotStored(f"no raw report {report_id}", report_id=report_id) from error
        except BaseException:
            file.close()
            raise
        file.flush()
        file.seek(0)
        return checked(file, report_id)

    def sweep(self) -> int:
        """Remove nothing: parts of uploads that never ended go by the bucket's own rule for them."""
        return 0

    def _is_there(self, key: str) -> bool:
        try:
            with _told():
                obstore.head(self._store, key)
        except FileNotFoundError:
            return False
        return True


def _key(report_id: str) -> str:
    return f"{checked_digest(report_id)[:2]}/{report_id}.zst"


@contextmanager
def _told() -> Iterator[None]:
    """Tell what went wrong as a file system would."""
    try:
        yield
    except (NotFoundError, FileNotFoundError) as error:
        raise FileNotFoundError(str(error)) from error
    except BaseError as error:
        raise OSError(f"the S3 server did not do it: {error}") from error
