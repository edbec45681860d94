from __future__ import annotations

import json
from collections.abc import Sequence

from .. import types as t
from .._multipart import FileToUpload, multipart
from .group import AsyncGroup, Options


class AsyncFiles(AsyncGroup):
    async def upload(
        self, files: Sequence[FileToUpload], *, tags: Sequence[str] = (), connector_id: str | None = None, options: Options = None
    ) -> list[t.File]:
        """Stores either all files or none. Returns them in the order of ``files``."""
        fields = {"tags": json.dumps(list(tags)) if tags else None, "connector_id": connector_id}
        raw = multipart({name: value for name, value in fields.items() if value is not None}, files)
        answer = await self._call("post", "/file/{projectID}", None, options, raw=raw)
        return answer["data"]

    async def get(self, id: str, options: Options = None) -> t.File:
        return await self._call("get", "/file/{projectID}/{file_id}", None, options, params={"file_id": id})

    async def delete(self, id: str, options: Options = None) -> t.File:
        """Returns the deleted record."""
        return await self._call("delete", "/file/{projectID}/{file_id}", None, options, params={"file_id": id})

    async def download(self, id: str, options: Options = None) -> bytes:
        file = await self.get(id, options)
        return await self._transport.download(file["url"], options)
