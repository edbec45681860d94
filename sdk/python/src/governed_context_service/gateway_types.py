"""What gateway calls take and give. Times are epoch seconds."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

Properties = dict[str, Any]
DocsTopic = Literal["governance", "ontology", "query", "tools", "errors"]
ProjectMode = Literal["simple", "governed"]


class Consumption(TypedDict):
    lifecycle_id: str
    run: str | None
    at: float


class Provenance(TypedDict):
    saved_by: str | None
    source: str | None
    recorded_at: float | None
    consumed: Consumption


class Entity(TypedDict):
    id: str
    type: str
    name: str
    properties: Properties
    score: float
    project_id: str
    provenance: Provenance


# `from` is a keyword, which only this form can name.
Relationship = TypedDict(
    "Relationship",
    {"id": str, "type": str, "from": str, "to": str, "properties": Properties, "provenance": Provenance},
)


class Fact(TypedDict):
    subject: str
    predicate: str
    object: str | float | bool
    confidence: float | str
    valid_from: float | None
    valid_to: float | None
    provenance: Provenance


class ContextAnswer(TypedDict):
    lifecycle_id: str
    entities: list[Entity]
    relationships: list[Relationship]
    facts: list[Fact]
    rows: list[dict[str, Any]]
    limit: int
    truncated: bool


class NamedEntity(TypedDict):
    type: str
    name: str


class _NewEntityOptions(TypedDict, total=False):
    id: str
    properties: Properties


class NewEntity(NamedEntity, _NewEntityOptions):
    pass


_NewRelationshipOptions = TypedDict("_NewRelationshipOptions", {"properties": Properties}, total=False)
_NewRelationshipEnds = TypedDict("_NewRelationshipEnds", {"from": "str | NamedEntity", "type": str, "to": "str | NamedEntity"})


class NewRelationship(_NewRelationshipEnds, _NewRelationshipOptions):
    """Each end is an entity's id, or its type and name."""


class _NewFactOptions(TypedDict, total=False):
    confidence: float
    valid_from: float | str | None
    valid_to: float | str | None


class NewFact(_NewFactOptions):
    subject: str | NamedEntity
    predicate: str
    object: str | float | bool | NamedEntity


class SavedCounts(TypedDict):
    entities: int
    relationships: int
    facts: int


class SavedContext(TypedDict):
    lifecycle_id: str
    saved: SavedCounts
    #: The id of each entity of the request, in its order.
    ids: list[str]


class Quota(TypedDict):
    """A maximum of 0 is none."""

    org_window_max: int
    org_window_used: int
    project_window_max: int
    project_window_used: int


class _DocsOptions(TypedDict, total=False):
    #: Of an OAuth access token.
    client_id: str


class Docs(_DocsOptions):
    """What every topic tells; a topic adds its own fields."""

    lifecycle_id: str
    topic: DocsTopic
    auth_kind: Literal["api_key", "user_jwt", "session"]
    grants: list[str]
    quota: Quota


class StartedRun(TypedDict):
    lifecycle_id: str
    execution_id: str
    status: str


class DryRun(TypedDict):
    lifecycle_id: str
    dry_run: Literal[True]
    would: dict[str, Any]


class Mode(TypedDict):
    lifecycle_id: str
    mode: ProjectMode


class SavedSkill(TypedDict):
    lifecycle_id: str
    skill_id: str
    name: str


class ModelSettings(TypedDict):
    lifecycle_id: str
    model: str
    temperature: float
    max_tokens: int


class RepositoryBinding(TypedDict):
    lifecycle_id: str
    repository: str
    branch: str | None
    bound_at: float


class OntologyVersion(TypedDict):
    version: int
    committed_at: float
    committed_by: str


class OntologyState(TypedDict):
    lifecycle_id: str
    #: In force; 0 where none was committed.
    version: int
    ontology: dict[str, Any] | None
    draft: dict[str, Any] | None
    versions: list[OntologyVersion]


class Orchestrated(TypedDict, total=False):
    """``executions`` of ``list``, ``execution`` of the other operations; each has ``execution_id`` and ``status``."""

    lifecycle_id: str
    executions: list[dict[str, Any]]
    execution: dict[str, Any]
