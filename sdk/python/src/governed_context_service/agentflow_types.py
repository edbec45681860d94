"""What calls about agentflows take and give. Times are epoch seconds."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

ActionCategory = Literal["content_creator", "messaging", "professional_network", "mail", "restful"]
ActionMethod = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]


class _SchemaFieldOptions(TypedDict, total=False):
    label: str
    type: Literal["string", "number", "integer", "boolean", "object", "array", "any"]
    required: bool
    description: str


class SchemaField(_SchemaFieldOptions):
    field_id: str


class FieldList(TypedDict):
    fields: list[SchemaField]


class _NewActionOptions(TypedDict, total=False):
    _id: str
    description: str
    #: All but ``restful``, the default, need a connector.
    category: ActionCategory
    method: ActionMethod
    endpoint: str
    #: By default the place in ``actions``.
    sort: float
    previous_action_id: str | None
    next_action_id: str | None
    #: By default whether ``next_action_id`` is ``None``.
    is_terminal: bool
    input_schema: FieldList
    output_schema: FieldList


class NewAction(_NewActionOptions):
    name: str


class Action(TypedDict):
    _id: str
    name: str
    description: str
    category: ActionCategory
    method: ActionMethod
    endpoint: str
    sort: float
    previous_action_id: str | None
    next_action_id: str | None
    is_terminal: bool
    input_schema: FieldList
    output_schema: FieldList


class _NewSkillOptions(TypedDict, total=False):
    _id: str
    description: str
    logo: str
    connector_id: str | None
    connector_name: str
    actions: list[NewAction]
    #: By default the first of ``actions``; ``None`` runs none.
    initial_action_id: str | None


class NewSkill(_NewSkillOptions):
    name: str


class Skill(TypedDict):
    _id: str
    name: str
    description: str
    logo: str
    projectID: str
    user_id: str
    connector_id: str | None
    connector_name: str
    is_deleted: bool
    actions: list[Action]
    initial_action_id: str | None


class NewModelChoice(TypedDict, total=False):
    model: str
    temperature: float
    max_tokens: int


class ModelChoice(TypedDict):
    model: str
    temperature: float
    max_tokens: int


class NewPrompt(TypedDict, total=False):
    template: str
    variables: list[str]
    display_template: str


class Prompt(TypedDict):
    template: str
    variables: list[str]
    display_template: str


class AgentBounds(TypedDict, total=False):
    max_turns: int
    max_total_tokens: int
    preview_timeout_seconds: float


class _NewAgentOptions(AgentBounds, total=False):
    _id: str
    role: str
    role_description: str
    agent_type: str
    llm: NewModelChoice
    prompt: NewPrompt
    skills: list[NewSkill]
    context: list[Any]
    triggers: list[Any]
    has_knowledge_base: bool
    is_preview_mode_enabled: bool
    pre_and_post_execution_input: Any
    #: ``None`` ends the flow.
    next_agent: str | None


class NewAgent(_NewAgentOptions):
    title: str


class Agent(AgentBounds):
    _id: str
    title: str
    role: str
    role_description: str
    agent_type: str
    llm: ModelChoice
    prompt: Prompt
    skills: list[Skill]
    context: list[Any]
    triggers: list[Any]
    has_knowledge_base: bool
    is_preview_mode_enabled: bool
    pre_and_post_execution_input: Any
    next_agent: str | None


class AnomalyDetection(TypedDict, total=False):
    is_enabled: bool
    instructions: str


class _NewAgentflowOptions(TypedDict, total=False):
    image: str
    description: str
    role: str
    #: By default the first of ``agents``.
    initialAgent: str
    isActive: bool
    agentflow_type: str
    goal_structure: Any
    conclusion: Any
    #: The goal with which the flow begins once more after a failure.
    failover_goal: Any
    anomaly_detection: AnomalyDetection
    agents: list[NewAgent]


class NewAgentflow(_NewAgentflowOptions):
    name: str


class AgentflowChanges(_NewAgentflowOptions, total=False):
    name: str


class Agentflow(TypedDict):
    _id: str
    name: str
    image: str
    description: str
    role: str
    initialAgent: str
    isActive: bool
    agentflow_type: str
    goal_structure: Any
    conclusion: Any
    failover_goal: Any
    anomaly_detection: AnomalyDetection
    agents: list[Agent]
    projectID: str
    organization_id: str
    is_deleted: bool
    is_cron_scheduled: bool
    created_at: float
    updated_at: float
    #: ``created_at`` until the first execution.
    last_used: float
    marketplace_id: str
    parent_agentflow_id: str


class Promotion(TypedDict):
    agentflow_id: str
    version: int
    promoted_at: float
    promoted_by: str
