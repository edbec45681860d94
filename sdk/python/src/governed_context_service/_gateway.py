from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from . import gateway_types as t
from ._governance import Governance
from ._group import Options, part, without_none
from ._transport import Outgoing, Transport
from .agentflow_types import NewSkill

#: Each call of these makes something new, and the gateway takes no idempotency key.
_MAKE_ANEW = frozenset({"run-agent", "save-skill"})


class Gateway(Governance):
    """The context gateway.

    Every call raises :class:`ServiceError` where the service refuses, and where a policy holds the call for approval
    (status 202).
    """

    def __init__(self, transport: Transport) -> None:
        super().__init__(transport)
        self._mode_path = f"/v1/projects/{part(transport.workspace.project_id)}/mode"

    def call(self, tool: str, input: Mapping[str, Any], options: Options = None) -> Any:
        """Any tool by its name, such as ``call("docs", {"topic": "query"})``."""
        outgoing = Outgoing("POST", f"/v1/{part(tool)}", body=dict(input), unsafe_to_repeat=tool in _MAKE_ANEW)
        return self._transport.call("gateway", outgoing, options)

    def dry_run(self, tool: str, input: Mapping[str, Any], options: Options = None) -> t.DryRun:
        """What a tool would do; it has no effect."""
        return self.call(tool, {**input, "dry_run": True}, options)

    def query_context(
        self,
        query: str,
        *,
        params: Mapping[str, Any] | None = None,
        limit: int | None = None,
        timeout_ms: int | None = None,
        as_of: float | str | None = None,
        granted_projects: bool | None = None,
        options: Options = None,
    ) -> t.ContextAnswer:
        """A question, or Cypher that begins with a read clause and filters on ``project_id = $project_id``."""
        given = {"query": query, "params": params, "limit": limit, "timeout_ms": timeout_ms, "as_of": as_of, "granted_projects": granted_projects}
        return self.call("query-context", without_none(given), options)

    def save_context(
        self,
        *,
        entities: Sequence[t.NewEntity] = (),
        relationships: Sequence[t.NewRelationship] = (),
        facts: Sequence[t.NewFact] = (),
        source: str | None = None,
        options: Options = None,
    ) -> t.SavedContext:
        given = {"entities": entities, "relationships": relationships, "facts": facts, "source": source}
        return self.call("save-context", without_none(given), options)

    def ontology(self, *, define: Mapping[str, Any] | None = None, commit: Literal[True] | None = None, options: Options = None) -> t.OntologyState:
        """With ``define`` keeps a draft, with ``commit`` puts it in force, with neither tells both."""
        return self.call("ontology", without_none({"define": define, "commit": commit}), options)

    def docs(self, topic: t.DocsTopic = "governance", options: Options = None) -> t.Docs:
        return self.call("docs", {"topic": topic}, options)

    def run_agent(self, agentflow_id: str, goal: str, inputs: Mapping[str, Any] | None = None, options: Options = None) -> t.StartedRun:
        """Starts an agentflow's promoted version; repeated after 429 only, since a fault may come after the start."""
        return self.call("run-agent", without_none({"agentflow_id": agentflow_id, "goal": goal, "inputs": inputs}), options)

    def orchestrate(
        self,
        operation: Literal["list", "get", "pause", "resume", "cancel"],
        execution_id: str | None = None,
        *,
        reason: str | None = None,
        limit: int | None = None,
        options: Options = None,
    ) -> t.Orchestrated:
        """``execution_id`` is needed for all but ``list``."""
        given = {"operation": operation, "execution_id": execution_id, "reason": reason, "limit": limit}
        return self.call("orchestrate", without_none(given), options)

    def save_skill(self, skill: NewSkill, options: Options = None) -> t.SavedSkill:
        """Repeated after 429 only, as ``run_agent`` is."""
        return self.call("save-skill", skill, options)

    def save_model(
        self, model: str, *, temperature: float | None = None, max_tokens: int | None = None, options: Options = None
    ) -> t.ModelSettings:
        """What agents of the project use that name no model of their own."""
        return self.call("save-model", without_none({"model": model, "temperature": temperature, "max_tokens": max_tokens}), options)

    def bind_repository(self, repository: str, branch: str | None = None, options: Options = None) -> t.RepositoryBinding:
        """``repository`` is ``owner/name``; without a branch all of them count."""
        return self.call("bind-repository", without_none({"repository": repository, "branch": branch}), options)

    def ingest_catalog(
        self, source: str, *, entities: Sequence[t.NewEntity] = (), relationships: Sequence[t.NewRelationship] = (), options: Options = None
    ) -> t.SavedContext:
        body = {"source": source, "entities": entities, "relationships": relationships}
        return self.request("POST", "/v1/catalog/ingest", body=body, options=options)

    def mode(self, options: Options = None) -> t.Mode:
        return self.request("GET", self._mode_path, options=options)

    def set_mode(self, mode: t.ProjectMode, options: Options = None) -> t.Mode:
        return self.request("PUT", self._mode_path, body={"mode": mode}, options=options)
