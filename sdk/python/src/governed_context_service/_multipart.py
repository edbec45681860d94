from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class FileToUpload:
    name: str
    content: bytes
    #: The media type. The service detects the type from the bytes.
    type: str = "application/octet-stream"


def multipart(fields: Mapping[str, str], files: Sequence[FileToUpload]) -> tuple[bytes, str]:
    """Returns a ``multipart/form-data`` body (RFC 7578). Escapes names as browsers do."""
    boundary = uuid.uuid4().hex
    parts = [(f'name="{_escaped(name)}"', "", value.encode()) for name, value in fields.items()]
    parts += [(f'name="file"; filename="{_escaped(file.name)}"', f"Content-Type: {_one_line(file.type)}\r\n", file.content) for file in files]
    body = b"".join(
        f"--{boundary}\r\nContent-Disposition: form-data; {head}\r\n{type_line}\r\n".encode() + content + b"\r\n" for head, type_line, content in parts
    )
    return body + f"--{boundary}--\r\n".encode(), f"multipart/form-data; boundary={boundary}"


def _escaped(text: str) -> str:
    return text.replace("\r", "%0D").replace("\n", "%0A").replace('"', "%22")


def _one_line(text: str) -> str:
    if "\r" in text or "\n" in text:
        raise ValueError("a media type is one line")
    return text
