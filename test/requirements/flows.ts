import type { Requirement } from './requirement.js';

const guide = 'docs/guides/flows.md';

/** Flows whose steps branch, run in parallel, repeat and wait. */
export const flows = [
  {
    id: 'flow.stored',
    source: `${guide}#steps`,
    says: 'An agentflow has steps beside its agents; POST, PATCH, GET, versions and the copy in an execution carry them.',
  },
  {
    id: 'flow.checks',
    source: `${guide}#what-is-checked`,
    says: 'An agentflow with wrong pointers, parts, names or expressions is refused with all problems and their paths.',
  },
  {
    id: 'flow.evaluate',
    source: `${guide}#expressions`,
    says: 'An expression is evaluated with what a run has recorded, at the place of a step, for everybody who may read the run, and changes nothing.',
  },
  {
    id: 'flow.try',
    source: `${guide}#try-one-step`,
    says: 'One agent or step of the saved agentflow runs alone with given inputs and outputs, for who may edit it; what it does is governed as in every run of a draft.',
  },
  {
    id: 'flow.large-outputs',
    source: `${guide}#outputs`,
    says: 'Large outputs of agents, actions, code and maps are kept within the limits of a run; beyond them the run ends with the reason.',
  },
  {
    id: 'flow.set-and-branch',
    source: `${guide}#steps`,
    says: 'set computes values, and branch continues at the first case that is true.',
  },
  {
    id: 'flow.branch.decide',
    source: `${guide}#steps`,
    says: 'With decide, a model chooses exactly one case of a branch by its name; an answer that names no case is corrected, or fails the step.',
  },
  {
    id: 'flow.parallel',
    source: `${guide}#steps`,
    says: 'parallel runs its branches at the same time and joins them when all, any or a number of them have succeeded.',
  },
  {
    id: 'flow.map',
    source: `${guide}#steps`,
    says: 'map runs a part for each item with limited concurrency and returns the outputs in the order of the items.',
  },
  {
    id: 'flow.many-items',
    source: `${guide}#maps-over-many-items`,
    says: 'A map takes up to 100,000 items and divides more than 200 among runs of their own, to which its order, concurrency, errors, pauses, cancels, approvals and reruns apply.',
  },
  {
    id: 'flow.table-items',
    source: `${guide}#rows-of-a-table-as-items`,
    says: 'The items of a map can be the rows of a table of the project that match a filter, as they are when the step begins; a query that does not fit the table is refused.',
  },
  {
    id: 'flow.loop',
    source: `${guide}#steps`,
    says: 'loop repeats its part until an expression is true, and fails after max_rounds.',
  },
  {
    id: 'flow.wait',
    source: `${guide}#steps`,
    says: 'wait ends after a time or at a time, and a pause stops its clock.',
  },
  {
    id: 'flow.action',
    source: `${guide}#steps`,
    says: 'action calls one action without a model. The call is governed like those of agents, and a rejection fails its path.',
  },
  {
    id: 'flow.code',
    source: `${guide}#code`,
    says: 'code runs JavaScript without network, files or clock, with limits of time, memory and output; errors name line and message.',
  },
  {
    id: 'flow.events',
    source: `${guide}#events`,
    says: 'A wait for an event ends with the first event of its name that matches, also if it came before; an event that is sent again counts once.',
  },
  {
    id: 'flow.events.address',
    source: `${guide}#events`,
    says: 'An address ends the wait of its step once, by POST only and until the wait ends. It is shown once, only its hash is stored, and no log has it.',
  },
  {
    id: 'flow.events.shown',
    source: `${guide}#events`,
    says: 'waiting_for shows the event that a run waits for, and until when.',
  },
  {
    id: 'flow.calls',
    source: `${guide}#agentflows-that-start-each-other`,
    says: 'flow starts a run of another agentflow, waits and returns its output; pause, cancel and failures pass between the two, and rules decide about the start.',
  },
  {
    id: 'flow.agents-as-tools',
    source: `${guide}#agentflows-as-tools`,
    says: 'An action of category agentflow is a tool: it starts a run with the goal and inputs that the model gives, waits, and returns the typed output, or the failure. Pause, cancel, rules and token limits reach both runs.',
  },
  {
    id: 'flow.agents-as-tools.released',
    source: `${guide}#agentflows-as-tools`,
    says: 'A release keeps the releases that its agents call: their inputs and what they do, whatever is promoted later.',
  },
  {
    id: 'flow.reads-at-once',
    source: `docs/guides/agentflows.md`,
    says: 'Calls of one turn that only read run at once, at most eight; others in order. Each waits for its own approval, and no other call can release it.',
  },
  {
    id: 'flow.errors',
    source: `${guide}#errors-in-parts`,
    says: 'A failed part fails its step and cancels the other parts, unless the step collects or skips errors.',
  },
  {
    id: 'flow.expressions.bounded',
    source: `${guide}#expressions`,
    says: 'An expression that takes too many steps or returns too much fails its step.',
  },
  {
    id: 'flow.expressions.functions',
    source: `${guide}#functions`,
    says: 'Expressions have functions for lists, numbers, texts and times, which take numbers of JSON where CEL has integers, and the same values in every zone.',
  },
  {
    id: 'flow.graph',
    source: `${guide}#watch`,
    says: 'GET /execute_flow/{execution_id}/graph returns the nodes of a flow with their runs by state, and their pointers.',
  },
  {
    id: 'flow.output',
    source: `${guide}#outputs`,
    says: 'The output of a flow is a JSON value: the conclusion has it as it is and as text.',
  },
  {
    id: 'flow.typed.schemas',
    source: `${guide}#typed-inputs-and-outputs`,
    says: 'A schema of inputs or outputs that cannot be used is refused with its path: no JSON Schema, references to other documents or without end, slow patterns, too large.',
  },
  {
    id: 'flow.typed.inputs',
    source: `${guide}#typed-inputs-and-outputs`,
    says: 'Every way to start a run refuses inputs that do not match input_schema, and names each problem with its path.',
  },
  {
    id: 'flow.typed.outputs',
    source: `${guide}#typed-inputs-and-outputs`,
    says: 'The output of an agent or a flow with a schema is a JSON value in the API, expressions, templates and the conclusion.',
  },
  {
    id: 'flow.typed.repairs',
    source: `${guide}#typed-inputs-and-outputs`,
    says: 'A model corrects an answer that does not match its schema at most twice; then the step fails with output_invalid. A cut answer is never an output.',
  },
  {
    id: 'flow.typed.answers',
    source: 'https://platform.openai.com/docs/guides/structured-outputs',
    says: 'A request has the schema as response_format; an endpoint that refuses it gets the schema in the prompt. What models write around one JSON value does no harm.',
  },
  {
    id: 'flow.ask',
    source: `${guide}#questions-to-people`,
    says: 'ask puts its form into the inbox, and its output is the answer that a person gives there; a pause stops its clock, and after its deadline the flow continues at on_timeout or fails.',
  },
  {
    id: 'flow.ask.who',
    source: `${guide}#questions-to-people`,
    says: 'Only the people to whom a question is addressed, or those with a role that decides, can answer it, once, with values that match the form.',
  },
  {
    id: 'flow.control',
    source: `${guide}#pause-cancel-and-approvals`,
    says: 'Pause, cancel and the end of a run reach every path.',
  },
  {
    id: 'flow.control.nothing-open',
    source: `${guide}#pause-cancel-and-approvals`,
    says: 'A cancel that arrives while a path starts another run, asks people or requests an approval leaves nothing of it open, even if the worker is killed then.',
  },
  {
    id: 'flow.approvals',
    source: `${guide}#pause-cancel-and-approvals`,
    says: 'An act that waits for approval holds its path alone, and no other path can release it.',
  },
  {
    id: 'flow.continue-as-new',
    source: 'https://docs.temporal.io/workflow-execution/continue-as-new',
    says: 'A flow with a long history continues as a new run with all of its paths.',
  },
  {
    id: 'flow.durable',
    source: 'https://docs.temporal.io/workflow-execution',
    says: 'A flow goes on after kills of worker and API: every call keeps its idempotency key, and no output is lost.',
  },
  {
    id: 'flow.random',
    source: `${guide}#steps`,
    says: 'Random flows return what a simple interpreter of the same flow returns.',
    fullForm: 'RANDOM_FLOWS',
  },
  {
    id: 'flow.rerun',
    source: `${guide}#rerun`,
    says: 'A rerun from a step keeps what has ended before it and in other parts, and sends no act again that has ended there.',
  },
  {
    id: 'flow.rerun.random',
    source: `${guide}#rerun`,
    says: 'A rerun from any step of a random flow returns what its first run returned.',
    fullForm: 'RANDOM_FLOWS',
  },
  {
    id: 'flow.rerun.refused',
    source: `${guide}#rerun`,
    says: 'A rerun from a step that does not exist, was never reached or would not run is refused with the reason.',
  },
] as const satisfies readonly Requirement[];
