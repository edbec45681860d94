import type { Requirement } from './requirement.js';

/** Routes, states and workflow of an execution. */
export const executions = [
  {
    id: 'platform.executions.create',
    source: 'docs/specification.md#executions',
    says: 'POST /execute_flow prepares an execution of an agentflow for a goal and answers 201 with the state ready.',
  },
  {
    id: 'platform.executions.create.unknown-agentflow',
    source: 'docs/guides/executions.md',
    says: 'An execution of an unknown agentflow is answered 404 and leaves no record.',
  },
  {
    id: 'platform.executions.execute',
    source: 'docs/specification.md#executions',
    says: 'POST /execute_flow/{execution_id}/execute starts the run and returns execution_id and status.',
  },
  {
    id: 'platform.executions.pause',
    source: 'docs/specification.md#executions',
    says: 'POST /execute_flow/{execution_id}/pause returns execution_id and status paused.',
  },
  {
    id: 'platform.executions.resume',
    source: 'docs/specification.md#executions',
    says: 'POST /execute_flow/{execution_id}/resume returns execution_id and status running.',
  },
  {
    id: 'platform.executions.cancel',
    source: 'docs/specification.md#executions',
    says: 'POST /execute_flow/{execution_id}/cancel accepts an optional reason and returns execution_id and status.',
  },
  {
    id: 'execution.delete',
    source: 'docs/guides/executions.md#deletion-and-retention',
    says: 'DELETE /execute_flow/{execution_id} deletes an execution that has ended with all that only it stores; what governance recorded about it stays.',
  },
  {
    id: 'execution.retention',
    source: 'docs/guides/executions.md#deletion-and-retention',
    says: 'The settings of a project say how many days after their end completed, failed and cancelled executions are deleted, each time with an audit entry.',
  },
  {
    id: 'platform.executions.get',
    source: 'docs/specification.md#executions',
    says: 'GET /execute_flow/{execution_id} returns the execution with its current status and outputs.',
  },
  {
    id: 'platform.executions.monitoring',
    source: 'docs/specification.md#executions',
    says: 'GET …/monitoring returns each step with agent, action, attempts, times and error, and the workflow id, run id and UI link.',
  },
  {
    id: 'platform.executions.events',
    source: 'docs/specification.md#executions',
    says: 'GET …/events streams status and step changes as server-sent events and closes after the end of the run.',
  },
  {
    id: 'platform.executions.events.resume',
    source: 'docs/specification.md#executions',
    says: 'A stream opened with Last-Event-ID continues after that event without gaps or repeats.',
  },
  {
    id: 'platform.executions.list',
    source: 'docs/specification.md#executions',
    says: 'GET /{projectID}/execution_flows lists only the executions of that project, also with projectID in the query.',
  },
  {
    id: 'platform.executions.preview',
    source: 'docs/specification.md#executions',
    says: 'POST …/preview approves or rejects the planned action of a named agent, with optional edits.',
  },
  {
    id: 'platform.executions.rerun',
    source: 'docs/specification.md#executions',
    says: 'POST …/rerun runs the execution again, from a given agent if one is named.',
  },

  {
    id: 'resource.execution',
    source: 'docs/specification.md#executions',
    says: 'An execution has every field of its table, with execution_id as a UUID and times in epoch seconds.',
  },
  {
    id: 'resource.execution.agentflow-copy',
    source: 'docs/specification.md#executions',
    says: 'An execution embeds a copy of its agentflow at the time of creation.',
  },
  {
    id: 'resource.execution.conclusion',
    source: 'docs/specification.md#executions',
    says: 'The conclusion of an execution is null until the end, then a Markdown text, links and a time.',
  },
  {
    id: 'resource.execution.executed-by',
    source: 'docs/specification.md#executions',
    says: 'executed_by has the id, name, metadata and type of the creator, with type manual for an API call.',
  },

  {
    id: 'execution.execute.reports-ready',
    source: 'docs/specification.md#executions',
    says: 'The answer to the first execute call reports ready.',
  },
  {
    id: 'execution.execute.runs',
    source: 'docs/specification.md#workflows',
    says: 'An execution that is executed becomes running in a workflow with the id execution/<execution_id>.',
  },
  {
    id: 'execution.execute.again',
    source: 'docs/specification.md#executions',
    says: 'Executing an execution that is not ready is answered 409 conflict with the current status.',
  },
  {
    id: 'execution.execute.idempotent',
    source: 'docs/specification.md#executions',
    says: 'Executing again with the same Idempotency-Key returns the first answer.',
  },
  {
    id: 'execution.execute.once',
    source: 'docs/guides/executions.md',
    says: 'Concurrent execute calls start one workflow.',
  },
  {
    id: 'execution.pause.from-running',
    source: 'docs/specification.md#executions',
    says: 'Pausing a running execution makes it paused in the answer and in every later read.',
  },
  {
    id: 'execution.pause.step-boundary',
    source: 'docs/specification.md#workflows',
    says: 'A step in progress at the pause finishes and keeps its result, and the next step does not start.',
  },
  {
    id: 'execution.pause.refused',
    source: 'docs/specification.md#executions',
    says: 'Pausing from ready, paused, completed or failed is answered 409 conflict with the current status.',
  },
  {
    id: 'execution.resume.from-paused',
    source: 'docs/specification.md#executions',
    says: 'Resuming a paused execution makes it running, and it continues with the step after the last finished one.',
  },
  {
    id: 'execution.resume.refused',
    source: 'docs/specification.md#executions',
    says: 'Resuming from ready, running, completed or failed is answered 409 conflict with the current status.',
  },
  {
    id: 'execution.cancel.ends-failed',
    source: 'docs/specification.md#workflows',
    says: 'Cancelling from ready, running or paused leads to failed; execution_context records the reason cancelled, the person and the time.',
  },
  {
    id: 'execution.cancel.refused',
    source: 'docs/specification.md#executions',
    says: 'Cancelling an execution that has ended is answered 409 conflict with the current status.',
  },
  {
    id: 'execution.cancel.temporal-canceled',
    source: 'docs/specification.md#workflows',
    says: 'The workflow of a cancelled execution closes in Temporal as Canceled.',
  },
  {
    id: 'execution.completes',
    source: 'docs/specification.md#workflows',
    says: 'After the last agent, an execution is completed and has end_time, the output of each agent and a conclusion.',
  },
  {
    id: 'execution.fails',
    source: 'docs/specification.md#workflows',
    says: 'A step that cannot succeed makes the execution failed, with end_time and the cause in execution_context.',
  },

  {
    id: 'execution.signals',
    source: 'docs/specification.md#workflows',
    says: 'Pause, resume and cancel signals from a Temporal client have the same effect as the API calls.',
  },
  {
    id: 'execution.signals.wrong-state',
    source: 'docs/specification.md#workflows',
    says: 'A signal that the state does not allow changes nothing and does not fail the run.',
  },
  {
    id: 'execution.updates',
    source: 'docs/specification.md#workflows',
    says: 'Pause, resume and cancel updates return the new status, and their validators reject a transition that is not allowed.',
  },
  {
    id: 'execution.query-state',
    source: 'docs/specification.md#workflows',
    says: 'The query state returns the complete current view of a run.',
  },
  {
    id: 'execution.projection',
    source: 'docs/specification.md#workflows',
    says: 'The stored record follows the state and outputs of its workflow: after each action of a person, otherwise within about a second, and it equals them at the end.',
  },
  {
    id: 'execution.search-attributes',
    source: 'docs/specification.md#workflows',
    says: 'A run can be found in Temporal by project, organization, agentflow, status and executor, and the status is current.',
  },
  {
    id: 'execution.readable-in-temporal',
    source: 'docs/specification.md#workflows',
    says: 'A run has a static summary, a link to its page in the console, current details, a summary on each activity and a description of each message.',
  },

  {
    id: 'execution.agents.chain',
    source: 'docs/specification.md#workflows',
    says: 'Agents run from initialAgent along next_agent, each with the outputs of the preceding agents.',
  },
  {
    id: 'execution.agents.start-from',
    source: 'docs/specification.md#executions',
    says: 'An execution with start_from_agent_id begins at that agent; an agent that is not in the flow is refused.',
  },
  {
    id: 'execution.agents.prompt',
    source: 'docs/specification.md#workflows',
    says: 'The prompt of an agent is its template with the variables of the execution filled in.',
  },
  {
    id: 'execution.actions.chain',
    source: 'docs/specification.md#workflows',
    says: 'The actions of a skill run from initial_action_id along next_action_id to a terminal one.',
  },
  {
    id: 'execution.actions.restful',
    source: 'docs/specification.md#workflows',
    says: 'A RESTful action makes a real HTTP call, and the response is the output of the step.',
  },
  {
    id: 'execution.actions.idempotency-key',
    source: 'docs/specification.md#workflows',
    says: 'Each action call has an idempotency key that is constant across its retries and differs between steps.',
  },
  {
    id: 'execution.model.offline',
    source: 'docs/specification.md#workflows',
    says: 'Without a model endpoint, the offline model answers from the prompt and action outputs, and its output says so.',
  },
  {
    id: 'execution.model.endpoint',
    source: 'docs/guides/executions.md',
    says: 'If an OpenAI-compatible endpoint is configured, model turns use it with the model and settings of the agent.',
  },

  {
    id: 'execution.steps.retried',
    source: 'docs/specification.md#workflows',
    says: 'A step with a transient failure is retried with exponential backoff, and monitoring counts the attempts.',
  },
  {
    id: 'execution.steps.not-retried',
    source: 'docs/specification.md#workflows',
    says: 'A permanent refusal fails the step at its first attempt.',
  },
  {
    id: 'execution.steps.timeout',
    source: 'docs/specification.md#workflows',
    says: 'A step that never answers ends at its timeout, and a missing heartbeat reveals a lost worker.',
  },
  {
    id: 'execution.large-payloads',
    source: 'docs/specification.md#workflows',
    says: 'An output over 256 KiB is stored outside the workflow history and is returned completely.',
  },
  {
    id: 'execution.continue-as-new',
    source: 'docs/specification.md#workflows',
    says: 'A long run that continues as new keeps outputs, state, pause and execution id.',
  },

  {
    id: 'durability.worker-killed',
    source: 'docs/guides/executions.md',
    says: 'After kill -9 of the worker during a step, the run ends and repeats at most that step.',
  },
  {
    id: 'durability.api-killed',
    source: 'docs/guides/executions.md',
    says: 'After kill -9 of the API during an execute call, the execution is either still ready or runs to its end once.',
  },
  {
    id: 'durability.both-killed',
    source: 'docs/guides/executions.md',
    says: 'With 200 executions in progress, kill -9 of API and worker loses none, and all of them end.',
    fullForm: 'KILLED_RUNS',
  },
  {
    id: 'durability.side-effects-once',
    source: 'docs/guides/executions.md',
    says: 'After all kills, a sink that counts idempotency keys has received the side effect of each action once.',
    fullForm: 'KILLED_RUNS',
  },
  {
    id: 'durability.paused-over-restart',
    source: 'docs/guides/executions.md',
    says: 'A paused execution is still paused after worker, API and Temporal restart, and then resumes.',
  },
  {
    id: 'durability.replay',
    source: 'docs/guides/executions.md',
    says: 'The saved histories of every workflow replay on the current code.',
  },

  {
    id: 'execution.clocks-stop',
    source: 'docs/specification.md#workflows',
    says: 'The clocks of approvals and time limits stop while a run is paused.',
  },
  {
    id: 'execution.search-attribute-lifecycle',
    source: 'docs/specification.md#workflows',
    says: 'A run started by a gateway call can be found in Temporal by the lifecycle id of that call.',
  },
  {
    id: 'execution.outside-answers',
    source: 'docs/guides/executions.md',
    says: 'An external answer that cannot be stored fails its step, and the run ends and is recorded.',
  },
  {
    id: 'execution.pdf-documents',
    source: 'docs/guides/executions.md',
    says: 'The text of a PDF among the documents of an execution is extracted.',
  },

  {
    id: 'execution.preview.names-its-preview',
    source: 'docs/guides/executions.md',
    says: 'A decision names its preview; if another preview is waiting by then, nothing is decided and the answer is 409.',
  },
  {
    id: 'execution.moves.repeated',
    source: 'docs/guides/executions.md',
    says: 'A decision, pause, resume or cancel that is repeated with the same Idempotency-Key gets the outcome of the first request, even if that was answered 503 and took effect later.',
  },
  {
    id: 'execution.dropped-updates',
    source: 'docs/guides/executions.md',
    says: 'An event, an answer or a move that Temporal drops with a workflow task is sent again and counts once; if it is dropped again and again, the answer is 503, and a repeat counts.',
  },
  {
    id: 'execution.reconciled',
    source: 'docs/guides/executions.md',
    says: 'A run that Temporal terminated or no longer knows is recorded as failed with the reason, on a read and by regular sweeps; later transitions are answered 409.',
  },
  {
    id: 'execution.steps.patience',
    source: 'docs/guides/executions.md',
    says: 'A step with a transient failure is retried with exponential backoff for STEP_PATIENCE; the run shows what it waits for, and afterwards fails with the last reason.',
  },
  {
    id: 'execution.steps.attempts',
    source: 'docs/guides/executions.md',
    says: "Each attempt of a step is shown with start, end and error; the error quotes the server's answer without secrets and personal data.",
  },
  {
    id: 'execution.queues',
    source: 'docs/guides/executions.md',
    says: 'Decisions, projections and transitions are answered while hanging calls occupy every slot for steps.',
  },
  {
    id: 'execution.fairness',
    source: 'docs/guides/executions.md',
    says: 'If fairness is turned on in Temporal, a step of one organization does not wait behind the whole backlog of another.',
  },
  {
    id: 'execution.waiting-shown',
    source: 'docs/guides/executions.md',
    says: 'Runs that wait for a person and runs that were cancelled can be recognised and filtered in lists of executions and tasks, and by AgentflowStatus in Temporal.',
  },
  {
    id: 'execution.readable-names',
    source: 'docs/guides/executions.md',
    says: 'executed_by.name and the titles of inbox items show the names of people, keys and schedules.',
  },
  {
    id: 'execution.one-look',
    source: 'docs/guides/executions.md',
    says: 'A process queries the workflow of a run once for each change, regardless of the number of viewers, and not at all while nothing changes: 1,000 viewers cost it no more than one.',
    fullForm: 'VIEWERS',
  },
  {
    id: 'execution.tokens-charged',
    source: 'docs/guides/executions.md',
    says: 'The tokens of a model turn are charged even if its answer does not fit into the run.',
  },
  {
    id: 'operation.metrics.bounded',
    source: 'docs/guides/executions.md',
    says: 'GET /metrics answers within seconds while the record store hangs.',
  },
  {
    id: 'execution.prepare-and-start',
    source: 'docs/guides/executions.md',
    says: 'POST /execute_flow?execute=true also starts the run, with the grant and the rules of the start.',
  },
  {
    id: 'execution.execute.waits',
    source: 'https://www.rfc-editor.org/rfc/rfc7240#section-4.3',
    says: 'With Prefer: wait, the start of a run answers the finished execution if the run ends in time, and otherwise as without it.',
  },
  {
    id: 'execution.turns',
    source: 'docs/guides/executions.md',
    says: 'At most as many runs of an agentflow, and of a key, go on at once as its concurrency allows; others wait for their turn.',
  },
  {
    id: 'execution.turns.fair',
    source: 'docs/guides/executions.md',
    says: 'The next turn goes to the waiting run whose key has the fewest running runs, and among equals to the one that has waited longest.',
  },
  {
    id: 'execution.turns.shown',
    source: 'docs/guides/executions.md',
    says: 'A run that waits for its turn is ready, and waiting_for says so in reads, lists, monitoring and events.',
  },
  {
    id: 'execution.turns.cancel',
    source: 'docs/guides/executions.md',
    says: 'A run that waits for its turn can be cancelled at once, and cannot be paused.',
  },
  {
    id: 'execution.turns.freed',
    source: 'docs/guides/executions.md',
    says: 'The turn of a run that ends in any way goes to the next run, also if Temporal terminated it.',
  },
  {
    id: 'execution.turns.changed-limit',
    source: 'docs/guides/executions.md',
    says: 'A changed limit applies to runs that wait within a minute.',
  },
  {
    id: 'execution.turns.bounded',
    source: 'docs/guides/executions.md',
    says: 'At most 10,000 runs of an agentflow wait for their turn; another one fails with too_many_waiting.',
  },
  {
    id: 'execution.turns.key',
    source: 'docs/guides/executions.md',
    says: 'The concurrency key is rendered with the goal and the inputs of a run; a run is refused if that is not possible.',
  },
  {
    id: 'execution.turns.killed',
    source: 'docs/guides/executions.md',
    says: 'Killed processes lose no turn and give none twice.',
  },
  {
    id: 'execution.light-steps',
    source: 'docs/architecture.md#flows',
    says: 'Steps of milliseconds without outside effects run within the workflow task. If they fail or take longer, they run again as activities.',
  },
  {
    id: 'execution.light-steps.batches',
    source: 'docs/architecture.md#flows',
    says: 'Such steps of several paths that are ready at the same time run as one batch. Each has its own result, and a pause holds those that have not begun.',
  },
] as const satisfies readonly Requirement[];
