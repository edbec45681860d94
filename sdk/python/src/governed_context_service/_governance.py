from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import governance_types as t
from ._group import Options, part, without_none
from ._pages import Page, page_of
from ._transport import Outgoing, Transport


class Governance:
    """What the gateway records of its calls, and the approvals that it waits for."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def request(self, method: str, path: str, *, query: Mapping[str, Any] | None = None, body: Any = None, options: Options = None) -> Any:
        """Any other route of the gateway, such as ``request("GET", "/v1/policies")``."""
        return self._transport.call("gateway", Outgoing(method, path, query=query, body=body), options)

    def lifecycle(self, id: str, options: Options = None) -> t.Lifecycle:
        return self.request("GET", f"/v1/lifecycles/{part(id)}", options=options)

    def lifecycles(
        self,
        *,
        tool: str | None = None,
        status: t.LifecycleStatus | None = None,
        from_: float | None = None,
        to: float | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        options: Options = None,
    ) -> Page[t.Lifecycle]:
        query = {"tool": tool, "status": status, "from": from_, "to": to, "limit": limit, "cursor": cursor}
        return self._list("/v1/lifecycles", query, options)

    def policy_decisions(self, *, limit: int | None = None, cursor: str | None = None, options: Options = None) -> Page[t.PolicyDecision]:
        return self._list("/v1/policy-decisions", {"limit": limit, "cursor": cursor}, options)

    def approvals(
        self, *, status: t.ApprovalStatus | None = None, limit: int | None = None, cursor: str | None = None, options: Options = None
    ) -> Page[t.Approval]:
        return self._list("/v1/approvals", {"status": status, "limit": limit, "cursor": cursor}, options)

    def approval(self, id: str, options: Options = None) -> t.ApprovalWithToken:
        """Gives its requester the resume token, once it is approved."""
        return self.request("GET", f"/v1/approvals/{part(id)}", options=options)

    def approve(self, id: str, comment: str | None = None, options: Options = None) -> t.Approval:
        return self.request("POST", f"/v1/approvals/{part(id)}/approve", body=without_none({"comment": comment}), options=options)

    def reject(self, id: str, comment: str | None = None, options: Options = None) -> t.Approval:
        return self.request("POST", f"/v1/approvals/{part(id)}/reject", body=without_none({"comment": comment}), options=options)

    def audit_entries(self, *, limit: int | None = None, cursor: str | None = None, options: Options = None) -> Page[t.AuditEntry]:
        return self._list("/v1/audit", {"limit": limit, "cursor": cursor}, options)

    def verify_audit(self, options: Options = None) -> t.AuditVerification:
        return self.request("GET", "/v1/audit/verify", options=options)

    def _list(self, path: str, query: Mapping[str, Any], options: Options) -> Page[Any]:
        return page_of(self.request("GET", path, query=query, options=options))
