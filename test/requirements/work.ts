import type { Requirement } from './requirement.js';

/** Schedules, tasks, inbox and connectors, with their routes. */
export const work = [
  {
    id: 'platform.schedules.list',
    source: 'docs/specification.md#schedules',
    says: 'GET /schedule/coworker lists the schedules of the project.',
  },
  {
    id: 'platform.schedules.create',
    source: 'docs/specification.md#schedules',
    says: 'POST /schedule/coworker accepts a coworker, a goal, a type with its time and the options of the contract.',
  },
  {
    id: 'platform.schedules.get',
    source: 'docs/specification.md#schedules',
    says: 'GET /schedule/coworker/{id} returns that schedule.',
  },
  {
    id: 'platform.schedules.update',
    source: 'docs/specification.md#schedules',
    says: 'PATCH /schedule/coworker/{id} changes the schedule, also between active and paused with a reason.',
  },
  {
    id: 'platform.schedules.expected',
    source: 'docs/guides/schedules.md',
    says: 'A change of a schedule with `expected` is refused with 409 if the schedule was changed since it was read.',
  },
  {
    id: 'platform.schedules.created-paused',
    source: 'docs/guides/schedules.md',
    says: 'A schedule that is created as paused starts no run until it is resumed.',
  },
  {
    id: 'platform.schedules.delete',
    source: 'docs/specification.md#schedules',
    says: 'DELETE /schedule/coworker/{id} deletes the schedule and returns its last record.',
  },
  {
    id: 'platform.schedules.trigger',
    source: 'docs/specification.md#schedules',
    says: 'POST …/trigger starts a run now.',
  },
  {
    id: 'platform.schedules.backfill',
    source: 'docs/specification.md#schedules',
    says: 'POST …/backfill runs the times planned between from and to.',
  },
  {
    id: 'platform.schedules.runs',
    source: 'docs/specification.md#schedules',
    says: 'GET …/runs reports which times fired, were skipped or were missed and why, and the next ten.',
  },
  {
    id: 'resource.schedule',
    source: 'docs/specification.md#schedules',
    says: 'A schedule has every field of its table, with goal as template and display_template.',
  },
  {
    id: 'schedule.temporal',
    source: 'docs/specification.md#workflows',
    says: 'Each schedule is a Temporal Schedule named schedule/<id>.',
  },
  {
    id: 'schedule.once',
    source: 'docs/guides/connectors.md',
    says: 'A schedule of type once fires once, at its epoch second.',
  },
  { id: 'schedule.interval', source: 'docs/guides/connectors.md', says: 'An interval fires every frequency seconds.' },
  {
    id: 'schedule.cron',
    source: 'docs/guides/connectors.md',
    says: 'A cron expression fires in its time zone, correctly across both clock changes, the 29th of February and the 31st.',
  },
  {
    id: 'schedule.cron-fields',
    source: 'docs/guides/schedules.md',
    says: 'The fields of a cron expression mean what they mean in cron, and a time that a schedule plans is one that Temporal fires.',
  },
  {
    id: 'schedule.cron-problems',
    source: 'docs/guides/schedules.md',
    says: 'A cron expression that is not valid is refused with the field that is wrong and what it may contain.',
  },
  {
    id: 'schedule.calendar',
    source: 'docs/guides/schedules.md#calendars',
    says: 'A calendar selects weekdays, days of the month from either end, or nth weekdays, and fires on exactly these days.',
  },
  {
    id: 'schedule.ends',
    source: 'docs/guides/schedules.md#times',
    says: 'No time is planned after ends_at, which completes the schedule; a later end makes it active again.',
  },
  {
    id: 'schedule.limit',
    source: 'docs/guides/connectors.md',
    says: 'A schedule stops after limit runs, and count is the number of runs.',
  },
  {
    id: 'schedule.overlap',
    source: 'docs/specification.md#schedules',
    says: 'overlap decides what happens when a run is due during another; the default is skip.',
  },
  {
    id: 'schedule.catchup-jitter',
    source: 'docs/specification.md#schedules',
    says: 'catchup_window limits which runs are made up after an outage, and jitter spreads the starts.',
  },
  {
    id: 'schedule.pause-on-failure',
    source: 'docs/specification.md#schedules',
    says: 'With pause_on_failure a failed run pauses its schedule.',
  },
  {
    id: 'schedule.table',
    source: 'docs/guides/connectors.md',
    says: 'With table, a schedule runs once for each row, whose values fill the goal template.',
  },
  {
    id: 'schedule.run',
    source: 'docs/specification.md#workflows',
    says: 'A run creates a task and a child execution and updates count, last execution, last record and conclusion.',
  },
  {
    id: 'schedule.no-drift',
    source: 'docs/guides/connectors.md',
    says: 'An interrupted create, update or delete is completed or undone, so that the record and the Temporal Schedule agree.',
  },
  {
    id: 'schedule.500-due',
    source: 'docs/guides/connectors.md',
    says: '500 schedules due in one minute each fire once.',
    fullForm: 'DUE',
  },
  {
    id: 'schedule.changes-in-order',
    source: 'docs/guides/connectors.md',
    says: 'Changes of one schedule are applied in order; a refused change does not affect the others.',
  },
  {
    id: 'schedule.triggers-not-lost',
    source: 'docs/guides/connectors.md',
    says: 'Each accepted trigger is a separate run, also within one second.',
  },
  {
    id: 'schedule.backfill-says-why',
    source: 'docs/guides/connectors.md',
    says: 'A backfill that runs nothing reports why.',
  },
  {
    id: 'schedule.reasons',
    source: 'docs/guides/connectors.md',
    says: 'The reasons of planned times that did not fire agree with the counters of Temporal.',
  },
  {
    id: 'schedule.planned-times',
    source: 'docs/guides/connectors.md',
    says: 'Planned times are reported without jitter, whether they fired or not.',
  },
  {
    id: 'schedule.former-member',
    source: 'docs/guides/connectors.md',
    says: 'A run in the name of a removed member is refused, and its schedule is paused with that reason.',
  },
  {
    id: 'platform.connectors.update',
    source: 'docs/guides/connectors.md',
    says: 'PATCH /connectors/{projectID}/{connector_id} changes a connector and validates it like a creation.',
  },
  {
    id: 'platform.connectors.expected',
    source: 'docs/guides/connectors.md',
    says: 'A change of a connector with `expected` is refused with 409 if the connector was changed since it was read.',
  },
  {
    id: 'connector.config-shown',
    source: 'docs/guides/connectors.md',
    says: 'The public fields of a configuration are shown; only secrets appear as [stored].',
  },
  {
    id: 'connector.former-member',
    source: 'docs/guides/connectors.md',
    says: 'The connector of a removed member starts and loads nothing, and is paused with that reason.',
  },
  {
    id: 'lifecycles.newest-first',
    source: 'docs/guides/connectors.md',
    says: 'Lifecycles of loads and syncs are listed newest first.',
  },
  {
    id: 'schedule.never-twice',
    source: 'docs/guides/connectors.md',
    says: 'Nothing fires twice across pause and resume, a lost worker or a clock change.',
  },

  {
    id: 'platform.tasks.list',
    source: 'docs/specification.md#executions',
    says: 'GET /task lists the tasks of the project.',
  },
  { id: 'platform.tasks.get', source: 'docs/specification.md#executions', says: 'GET /task/{id} returns that task.' },
  {
    id: 'platform.tasks.pause',
    source: 'docs/specification.md#executions',
    says: 'POST /task/{id}/pause pauses a running task and its execution.',
  },
  {
    id: 'platform.tasks.resume',
    source: 'docs/specification.md#executions',
    says: 'POST /task/{id}/resume resumes a paused task and its execution.',
  },
  {
    id: 'platform.tasks.stop',
    source: 'docs/specification.md#executions',
    says: 'POST /task/{id}/stop ends a task and its execution.',
  },
  {
    id: 'task.states',
    source: 'docs/specification.md#executions',
    says: 'A task has the five states of executions and always the state of its own execution.',
  },

  {
    id: 'platform.inbox.list',
    source: 'docs/specification.md#executions',
    says: 'GET /inbox lists the items of the project that wait for a person.',
  },
  {
    id: 'platform.inbox.read',
    source: 'docs/specification.md#executions',
    says: 'POST /inbox/{id}/read marks an item as read.',
  },
  {
    id: 'platform.inbox.reply',
    source: 'docs/specification.md#executions',
    says: 'POST /inbox/{id}/reply answers the preview or approval of an item.',
  },

  {
    id: 'platform.connectors.configure',
    source: 'docs/specification.md#schedules',
    says: 'POST /actions/{category}/config creates a connector of one of the known categories and returns its configuration.',
  },
  {
    id: 'platform.connectors.configuration',
    source: 'docs/specification.md#connectors',
    says: 'GET /actions/{category}/config returns the configuration of a connector without its secrets.',
  },
  {
    id: 'platform.connectors.params',
    source: 'docs/specification.md#connectors',
    says: 'GET /actions/professional_network/params returns the parameters of that provider.',
  },
  {
    id: 'platform.connectors.list',
    source: 'docs/specification.md#connectors',
    says: 'GET /connectors/{projectID} lists the connectors of the project.',
  },
  {
    id: 'platform.connectors.get',
    source: 'docs/specification.md#connectors',
    says: 'GET /connectors/{projectID}/{connector_id} returns that connector.',
  },
  {
    id: 'platform.connectors.delete',
    source: 'docs/specification.md#connectors',
    says: 'DELETE /connectors/{projectID}/{connector_id} removes the connector with its pin and schedules.',
  },
  {
    id: 'platform.connectors.status',
    source: 'docs/specification.md#connectors',
    says: 'POST /connectors/{projectID}/{connector_id}/status changes its state and refuses transitions that are not allowed.',
  },
  {
    id: 'platform.connectors.triggers',
    source: 'docs/specification.md#connectors',
    says: 'GET /actions/triggers lists the available trigger actions.',
  },
  {
    id: 'resource.connector-configuration',
    source: 'docs/specification.md#connectors',
    says: 'A connector configuration accepts every field of the specification, with org_id optional.',
  },
  {
    id: 'connector.pin',
    source: 'docs/specification.md#callback-receivers',
    says: 'Each connector gets a pin at creation that cannot be guessed.',
  },
  {
    id: 'connector.secrets',
    source: 'docs/specification.md#connectors',
    says: 'Secrets in config are stored encrypted, never returned, and absent from histories, logs, events and answers.',
  },
  {
    id: 'connector.data-loader',
    source: 'docs/guides/connectors.md',
    says: 'data_loader_config loads the data of a connector at its interval by a Temporal Schedule.',
  },
  {
    id: 'connector.plan',
    source: 'docs/guides/connectors.md',
    says: 'A connector beyond the plan is refused with plan_limit.',
  },
] as const satisfies readonly Requirement[];
