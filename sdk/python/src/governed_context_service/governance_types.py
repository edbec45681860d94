"""What calls about lifecycles, approvals and the audit chain give. Times are epoch seconds."""

from __future__ import annotations

from typing import Literal, TypedDict

LifecycleStatus = Literal["completed", "denied", "pending_approval", "failed", "dry_run"]
ApprovalStatus = Literal["pending", "approved", "rejected", "expired"]


class _CallerOptions(TypedDict, total=False):
    key_id: str
    execution_id: str
    client_id: str


class Caller(_CallerOptions):
    user_id: str
    kind: str


class Stage(TypedDict):
    stage: str
    status: Literal["ok", "failed"]
    detail: str


class Lifecycle(TypedDict):
    """One governed call; the first failed stage refused it."""

    lifecycle_id: str
    tool: str
    status: LifecycleStatus
    stages: list[Stage]
    principal: Caller
    project_id: str
    organization_id: str
    trace_id: str
    created_at: float
    ended_at: float
    payload_digest: str | None
    consumed: list[str]
    approval_id: str | None
    decision_id: str | None


class Vote(TypedDict):
    user_id: str
    role: str
    decision: Literal["approve", "reject"]
    comment: str
    at: float


class Approval(TypedDict):
    approval_id: str
    lifecycle_id: str
    tool: str
    requested_by: str
    reason: str
    policy_ids: list[str]
    policy_version: int
    payload_digest: str
    status: ApprovalStatus
    required_approvers: int
    votes: list[Vote]
    created_at: float
    expires_at: float
    decided_by: str | None
    decided_at: float | None


class ApprovalWithToken(Approval, total=False):
    """For its requester, once it is approved: send the same call again with the token."""

    resume_token: str
    resume_token_expires_at: float


class AuditEntry(TypedDict):
    entry_id: str
    seq: int
    at: float
    actor: str
    action: str
    resource: str
    outcome: str
    lifecycle_id: str | None
    prev_hash: str
    hash: str


class AuditCheckpoint(TypedDict):
    """A signed statement of the chain's length and head."""

    organization: str
    number: int
    entries: int
    head_hash: str
    at: float
    previous: str | None
    #: A compact JWS over the other fields.
    statement: str


class AuditVerification(TypedDict):
    valid: bool
    entries: int
    head_hash: str
    first_broken_seq: int | None
    #: The last sound one.
    checkpoint: AuditCheckpoint | None
    reason: str | None


class PolicyDecision(TypedDict):
    decision_id: str
    lifecycle_id: str
    decision: Literal["permit", "forbid", "require_approval"]
    policy_ids: list[str]
    policy_version: int
    at: float
