"""What calls about schedules, tables and files take and give. Times are epoch seconds unless a field says otherwise."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

ScheduleType = Literal["once", "interval", "cron"]
Overlap = Literal["skip", "buffer_one", "buffer_all", "cancel_other", "allow_all"]
ScalarType = Literal["string", "number", "integer", "boolean", "date"]
ColumnType = Literal["string", "number", "integer", "boolean", "date", "enum", "array", "object"]
EnumOption = str | float | bool


class _NewGoalOptions(TypedDict, total=False):
    display_template: str


class NewGoal(_NewGoalOptions):
    template: str


class Goal(TypedDict):
    template: str
    display_template: str


class _NewCronOptions(TypedDict, total=False):
    #: An IANA time zone; UTC.
    time_zone: str


class NewCron(_NewCronOptions):
    cron: str


class Cron(TypedDict):
    cron: str
    time_zone: str


class _ScheduleSettings(TypedDict, total=False):
    #: When it runs once, or from when an interval or a cron text holds.
    schedule: float
    #: Seconds, a cron text, or a cron text with its time zone.
    frequency: int | str | NewCron | None
    limit: int | None
    #: One execution for each of its rows.
    table: str | None
    overlap: Overlap
    #: Seconds, as is ``jitter``.
    catchup_window: int
    jitter: int
    pause_on_failure: bool


class NewSchedule(_ScheduleSettings):
    #: The agentflow.
    coworker_id: str
    goal: str | NewGoal
    type: ScheduleType


class ScheduleChanges(_ScheduleSettings, total=False):
    goal: str | NewGoal
    type: ScheduleType
    status: Literal["active", "paused"]
    #: Together with status ``paused``.
    reason: str


class Schedule(TypedDict):
    _id: str
    projectID: str
    coworker_id: str
    created_by: str
    created_at: float
    updated_at: float | None
    goal: Goal
    schedule: float
    type: ScheduleType
    status: Literal["active", "paused", "completed"]
    frequency: int | Cron | None
    count: int
    limit: int | None
    table: str | None
    conclusion: str | None
    last_coworker_execution_id: str | None
    last_record_id: str | None
    #: The task of the last execution; empty before the first.
    task_id: str
    overlap: Overlap
    catchup_window: float
    jitter: float
    pause_on_failure: bool
    reason: str | None


class ScheduledExecution(TypedDict):
    execution_id: str | None
    record_id: str | None
    status: str
    error: str | None


class ScheduleRun(TypedDict):
    scheduled_for: float
    started_at: float | None
    ended_at: float | None
    status: Literal["running", "completed", "failed", "cancelled", "skipped", "missed"]
    reason: str | None
    executions: list[ScheduledExecution]
    error: str | None


class ScheduleRuns(TypedDict):
    #: Newest first.
    data: list[ScheduleRun]
    total_count: int
    next_cursor: str | None
    #: The next ten that are planned; none while it is paused.
    next: list[float]
    skipped_overlap: int
    missed_catchup: int


class Backfilled(TypedDict):
    planned: list[float]


class _ObjectFieldOptions(TypedDict, total=False):
    required: bool


class ObjectField(_ObjectFieldOptions):
    """Of the values of an object column."""

    name: str
    type: ScalarType


class _NewColumnOptions(TypedDict, total=False):
    array_type: ScalarType | Literal["object"] | None
    default_value: Any
    object_fields: list[ObjectField] | None
    enum_options: list[EnumOption] | None


class NewColumn(_NewColumnOptions):
    column_name: str
    column_type: ColumnType


class Column(TypedDict):
    column_name: str
    column_type: ColumnType
    #: The key of its values in records.
    column_id: str
    array_type: str | None
    default_value: Any
    object_fields: list[ObjectField] | None
    triggers: list[Any] | None
    enum_options: list[EnumOption] | None


class Table(TypedDict):
    _id: str
    projectID: str
    table_name: str
    columns: list[Column]
    connector_id: str
    triggers: list[Any] | None
    last_row_id: int


#: The system columns ``_id``, ``row_id`` and ``coworker_user_id``, and values by column_id.
TableRecord = dict[str, Any]


class StoredFile(TypedDict):
    _id: str
    projectID: str
    name: str
    #: What the bytes are, whatever the sender called them.
    mime_type: str
    location: str
    tags: list[str]
    source_type: str
    size_in_kb: float
    container_name: str
    #: Downloads the file for an hour without another credential.
    url: str
    connector_id: str
    #: Epoch milliseconds.
    uploaded_on: int
    status: Literal["uploading", "ready", "failed", "deleted"]
