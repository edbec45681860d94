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
    id: 'flow.set-and-branch',
    source: `${guide}#steps`,
    says: 'set computes values, and branch continues at the first case that is true.',
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
    id: 'flow.calls',
    source: `${guide}#agentflows-that-start-each-other`,
    says: 'flow starts a run of another agentflow, waits and returns its output; pause, cancel and failures pass between the two, and rules decide about the start.',
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
    id: 'flow.control',
    source: `${guide}#pause-cancel-and-approvals`,
    says: 'Pause, cancel and the end of a run reach every path.',
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
] as const satisfies readonly Requirement[];
