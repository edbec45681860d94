from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from .. import types as t
from .._options import Outgoing
from .group import AsyncGroup, Options, without_none
from .._pages import Page, page_of


LifecycleStatus = Literal["completed", "denied", "pending_approval", "failed", "dry_run"]
ApprovalStatus = Literal["pending", "approved", "rejected", "expired", "used"]


class AsyncGovernance(AsyncGroup):
    """Calls about lifecycles, policy decisions, the quota and approvals."""

    async def request(self, method: str, path: str, *, query: Mapping[str, Any] | None = None, body: Any = None, options: Options = None) -> Any:
        """Sends a request to a route that this version of the client does not know."""
        return await self._transport.call("gateway", Outgoing(method, path, query=query, body=body, unsafe_to_repeat=method == "POST"), options)

    async def lifecycle(self, id: str, options: Options = None) -> t.DecidedLifecycle:
        return await self._call("get", "/v1/lifecycles/{id}", None, options, params={"id": id})

    async def lifecycles(
        self,
        *,
        tool: str | None = None,
        status: LifecycleStatus | None = None,
        from_: float | None = None,
        to: float | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        options: Options = None,
    ) -> Page[t.Lifecycle]:
        query = {"tool": tool, "status": status, "from": from_, "to": to, "limit": limit, "cursor": cursor}
        return await self._list("/v1/lifecycles", query, options)

    async def policy_decisions(self, *, limit: int | None = None, cursor: str | None = None, options: Options = None) -> Page[t.PolicyDecision]:
        return await self._list("/v1/policy-decisions", {"limit": limit, "cursor": cursor}, options)

    async def quota(self, options: Options = None) -> t.Quota:
        return await self._call("get", "/v1/quota", None, options)

    async def approvals(
        self, *, status: ApprovalStatus | None = None, limit: int | None = None, cursor: str | None = None, options: Options = None
    ) -> Page[t.Approval]:
        return await self._list("/v1/approvals", {"status": status, "limit": limit, "cursor": cursor}, options)

    async def approval(self, id: str, options: Options = None) -> t.ApprovalWithToken:
        """Returns an approval. For the requester, it contains the resume token once the call is approved."""
        return await self._call("get", "/v1/approvals/{id}", None, options, params={"id": id})

    async def approve(self, id: str, comment: str | None = None, options: Options = None) -> t.Approval:
        return await self._call("post", "/v1/approvals/{id}/approve", without_none({"comment": comment}), options, params={"id": id})

    async def reject(self, id: str, comment: str | None = None, options: Options = None) -> t.Approval:
        return await self._call("post", "/v1/approvals/{id}/reject", without_none({"comment": comment}), options, params={"id": id})

    async def audit_entries(self, *, limit: int | None = None, cursor: str | None = None, options: Options = None) -> Page[t.ListedAuditEntry]:
        return await self._list("/v1/audit", {"limit": limit, "cursor": cursor}, options)

    async def verify_audit(self, options: Options = None) -> t.AuditVerification:
        return await self._call("get", "/v1/audit/verify", None, options)

    async def _list(self, path: str, query: Mapping[str, Any], options: Options) -> Page[Any]:
        return page_of(await self._call("get", path, None, options, query=query))
