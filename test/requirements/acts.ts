import type { Requirement } from './requirement.js';

const fromIssue = { source: 'issue 16: Acts', part: 11, delivered: true } as const;

export const acts = [
  { id: 'act.permit', ...fromIssue, says: 'A permitted act is made, with a lifecycle and an audit entry.' },
  {
    id: 'act.facts',
    ...fromIssue,
    says: 'Rules on an act see host, method, arguments, agent and who started the run.',
  },
  {
    id: 'act.forbid',
    ...fromIssue,
    says: 'A forbidden act is not made; the agent receives the refusal and the run continues.',
  },
  { id: 'act.forbid.tool', ...fromIssue, says: 'A model receives the refusal of its tool call.' },
  {
    id: 'act.hold',
    ...fromIssue,
    says: 'An act that needs an approval waits, shows it, and is made once after the approval.',
  },
  { id: 'act.hold.reject', ...fromIssue, says: 'The agent receives the reason of a rejection.' },
  { id: 'act.hold.expiry', ...fromIssue, says: 'An approval that nobody decides refuses the act.' },
  {
    id: 'act.hold.starter',
    ...fromIssue,
    says: 'The person who started the run decides only if the rule allows it; an attempt is refused and audited.',
  },
  {
    id: 'act.hold.changed',
    ...fromIssue,
    says: 'A changed call or policy version does not use the approval, and this is audited.',
  },
  {
    id: 'act.hold.once',
    ...fromIssue,
    says: 'An approval serves one call of one step: the same call of another step or run asks again.',
  },
  { id: 'act.hold.killed', ...fromIssue, says: 'An act that waits survives the worker and reaches the receiver once.' },
  {
    id: 'act.unknown',
    ...fromIssue,
    says: 'An approved call whose answer was lost is repeated only if a person says so.',
  },
  { id: 'act.cost', ...fromIssue, says: 'A permitted act adds a fixed number of calls to MongoDB.' },
  { id: 'act.cancel', ...fromIssue, says: 'Cancelling a run withdraws its approval.' },
  {
    id: 'act.mcp',
    ...fromIssue,
    says: 'Rules permit, forbid and hold calls of the tools of MCP servers by the annotations that a person accepted; an approved call is made once.',
  },
  {
    id: 'act.sample',
    ...fromIssue,
    says: 'npm start leaves a second run that waits for an approval of its call; the printed command approves it, and the run is completed.',
  },
  {
    id: 'act.sample.one',
    ...fromIssue,
    says: 'However often npm start runs, one run of the sample waits for an approval.',
  },
] as const satisfies readonly Requirement[];
