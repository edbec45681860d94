from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from .. import types as t
from .governance import AsyncGovernance
from .group import Options, without_none


class AsyncGateway(AsyncGovernance):
    """Calls of the context gateway.

    Each call raises :class:`ServiceError` if the service refuses it, or if a policy holds it for approval (status 202).
    """

    async def call(self, tool: str, input: Mapping[str, Any], options: Options = None) -> Any:
        """Calls any tool by its name, for example ``call("docs", {"topic": "query"})``."""
        return await self._call("post", f"/v1/{tool}", dict(input), options)

    async def dry_run(self, tool: str, input: Mapping[str, Any], options: Options = None) -> t.DryRun:
        """Returns what a tool would do, without any effect."""
        return await self.call(tool, {**input, "dry_run": True}, options)

    async def query_context(
        self,
        query: str,
        *,
        params: Mapping[str, Any] | None = None,
        limit: int | None = None,
        timeout_ms: int | None = None,
        as_of: float | str | None = None,
        bookmark: str | None = None,
        granted_projects: bool | None = None,
        explain: bool | None = None,
        options: Options = None,
    ) -> t.ContextAnswer:
        """Takes a question, or Cypher that begins with a read clause and filters by ``project_id = $project_id``."""
        given = {"query": query, "params": params, "limit": limit, "timeout_ms": timeout_ms, "as_of": as_of, "bookmark": bookmark, "granted_projects": granted_projects, "explain": explain}
        return await self.call("query-context", without_none(given), options)

    async def save_context(
        self,
        *,
        entities: Sequence[t.EntityInput] = (),
        relationships: Sequence[t.RelationshipInput] = (),
        facts: Sequence[t.FactInput] = (),
        source: str | None = None,
        options: Options = None,
    ) -> t.SaveAnswer:
        given = {"entities": entities, "relationships": relationships, "facts": facts, "source": source}
        return await self.call("save-context", without_none(given), options)

    async def remember(
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
        return await self.call("remember", without_none(given), options)

    async def memory(self, operation: Literal["get", "cancel", "approve", "reject"], memory_id: str, options: Options = None, *, payload_digest: str | None = None) -> t.MemoryAnswer:
        given = {"operation": operation, "memory_id": memory_id, "payload_digest": payload_digest}
        return await self.call("memory", without_none(given), options)

    async def undo_merge(self, merge_id: str, options: Options = None) -> t.UndoneMerge:
        return await self.call("undo-merge", {"merge_id": merge_id}, options)

    async def ontology(self, *, define: Mapping[str, Any] | None = None, commit: Literal[True] | None = None, options: Options = None) -> t.OntologyState:
        """Stores a draft with ``define``, activates it with ``commit``, and returns both."""
        return await self.call("ontology", without_none({"define": define, "commit": commit}), options)

    async def docs(self, topic: Literal["governance", "ontology", "query", "retrieval", "tools", "errors"] = "governance", options: Options = None) -> t.DocsAnswer:
        return await self.call("docs", {"topic": topic}, options)

    async def run_agent(
        self,
        agentflow_id: str,
        goal: str,
        inputs: Mapping[str, Any] | None = None,
        options: Options = None,
        *,
        version: int | None = None,
        channel: str | None = None,
        draft: bool | None = None,
    ) -> t.StartedRun:
        """Runs the release in production, or the one that ``version``, ``channel`` or ``draft`` names."""
        given = {"agentflow_id": agentflow_id, "goal": goal, "inputs": inputs, "version": version, "channel": channel, "draft": draft}
        return await self.call("run-agent", without_none(given), options)

    async def orchestrate(
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
        return await self.call("orchestrate", without_none(given), options)

    async def save_skill(self, skill: t.SkillInput, options: Options = None) -> t.SavedSkill:
        return await self.call("save-skill", skill, options)

    async def save_model(
        self, model: str, *, temperature: float | None = None, max_tokens: int | None = None, options: Options = None
    ) -> t.ModelSettings:
        """Sets the model of the project, which agents without their own model use."""
        return await self.call("save-model", without_none({"model": model, "temperature": temperature, "max_tokens": max_tokens}), options)

    async def bind_repository(self, repository: str, branch: str | None = None, options: Options = None) -> t.RepositoryBinding:
        """``repository`` is ``owner/name``. Without a branch, pushes to all branches count."""
        return await self.call("bind-repository", without_none({"repository": repository, "branch": branch}), options)

    async def ingest_catalog(
        self, source: str, *, entities: Sequence[t.EntityInput] = (), relationships: Sequence[t.RelationshipInput] = (), options: Options = None
    ) -> t.SaveAnswer:
        body = {"source": source, "entities": entities, "relationships": relationships}
        return await self.call("catalog/ingest", body, options)

    async def mode(self, options: Options = None) -> t.ProjectMode:
        return await self._call("get", "/v1/projects/{projectId}/mode", None, options)

    async def set_mode(self, mode: Literal["simple", "governed"], options: Options = None) -> t.ProjectMode:
        return await self._call("put", "/v1/projects/{projectId}/mode", {"mode": mode}, options)
