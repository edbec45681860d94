from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from . import types as t
from ._governance import Governance
from ._group import Options, without_none


class Gateway(Governance):
    """Calls of the context gateway.

    Each call raises :class:`ServiceError` if the service refuses it, or if a policy holds it for approval (status 202).
    """

    def call(self, tool: str, input: Mapping[str, Any], options: Options = None) -> Any:
        """Calls any tool by its name, for example ``call("docs", {"topic": "query"})``."""
        return self._call("post", f"/v1/{tool}", dict(input), options)

    def dry_run(self, tool: str, input: Mapping[str, Any], options: Options = None) -> t.DryRun:
        """Returns what a tool would do, without any effect."""
        return self.call(tool, {**input, "dry_run": True}, options)

    def query_context(
        self,
        query: str,
        *,
        params: Mapping[str, Any] | None = None,
        limit: int | None = None,
        timeout_ms: int | None = None,
        as_of: float | str | None = None,
        bookmark: str | None = None,
        granted_projects: bool | None = None,
        options: Options = None,
    ) -> t.ContextAnswer:
        """Takes a question, or Cypher that begins with a read clause and filters by ``project_id = $project_id``."""
        given = {"query": query, "params": params, "limit": limit, "timeout_ms": timeout_ms, "as_of": as_of, "bookmark": bookmark, "granted_projects": granted_projects}
        return self.call("query-context", without_none(given), options)

    def save_context(
        self,
        *,
        entities: Sequence[t.NewEntity] = (),
        relationships: Sequence[t.NewRelationship] = (),
        facts: Sequence[t.NewFact] = (),
        source: str | None = None,
        options: Options = None,
    ) -> t.SaveAnswer:
        given = {"entities": entities, "relationships": relationships, "facts": facts, "source": source}
        return self.call("save-context", without_none(given), options)

    def remember(
        self,
        text: str | None = None,
        *,
        turns: Sequence[Mapping[str, Any]] | None = None,
        source: str | None = None,
        at: float | str | None = None,
        entity_types: Sequence[str] | None = None,
        budget: float | None = None,
        review: bool | None = None,
        options: Options = None,
    ) -> t.RememberAnswer:
        """Extracts the facts of a text or of turns ``{speaker, text, at}`` in the background. ``memory`` returns the progress."""
        given = {"text": text, "turns": turns, "source": source, "at": at, "entity_types": entity_types, "budget": budget, "review": review}
        return self.call("remember", without_none(given), options)

    def memory(self, operation: Literal["get", "cancel", "approve", "reject"], memory_id: str, options: Options = None) -> t.MemoryAnswer:
        return self.call("memory", {"operation": operation, "memory_id": memory_id}, options)

    def undo_merge(self, merge_id: str, options: Options = None) -> t.UndoneMerge:
        return self.call("undo-merge", {"merge_id": merge_id}, options)

    def ontology(self, *, define: Mapping[str, Any] | None = None, commit: Literal[True] | None = None, options: Options = None) -> t.OntologyState:
        """Stores a draft with ``define``, activates it with ``commit``, and returns both."""
        return self.call("ontology", without_none({"define": define, "commit": commit}), options)

    def docs(self, topic: Literal["governance", "ontology", "query", "retrieval", "tools", "errors"] = "governance", options: Options = None) -> t.DocsAnswer:
        return self.call("docs", {"topic": topic}, options)

    def run_agent(self, agentflow_id: str, goal: str, inputs: Mapping[str, Any] | None = None, options: Options = None) -> t.StartedRun:
        """Runs the promoted version of an agentflow."""
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
        """Every operation except ``list`` requires ``execution_id``."""
        given = {"operation": operation, "execution_id": execution_id, "reason": reason, "limit": limit}
        return self.call("orchestrate", without_none(given), options)

    def save_skill(self, skill: t.NewSkill, options: Options = None) -> t.SavedSkill:
        return self.call("save-skill", skill, options)

    def save_model(
        self, model: str, *, temperature: float | None = None, max_tokens: int | None = None, options: Options = None
    ) -> t.ModelSettings:
        """Sets the model of the project, which agents without their own model use."""
        return self.call("save-model", without_none({"model": model, "temperature": temperature, "max_tokens": max_tokens}), options)

    def bind_repository(self, repository: str, branch: str | None = None, options: Options = None) -> t.RepositoryBinding:
        """``repository`` is ``owner/name``. Without a branch, pushes to all branches count."""
        return self.call("bind-repository", without_none({"repository": repository, "branch": branch}), options)

    def ingest_catalog(
        self, source: str, *, entities: Sequence[t.NewEntity] = (), relationships: Sequence[t.NewRelationship] = (), options: Options = None
    ) -> t.SaveAnswer:
        body = {"source": source, "entities": entities, "relationships": relationships}
        return self.call("catalog/ingest", body, options)

    def mode(self, options: Options = None) -> t.ProjectMode:
        return self._call("get", "/v1/projects/{projectId}/mode", None, options)

    def set_mode(self, mode: Literal["simple", "governed"], options: Options = None) -> t.ProjectMode:
        return self._call("put", "/v1/projects/{projectId}/mode", {"mode": mode}, options)
