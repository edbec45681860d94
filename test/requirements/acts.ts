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
  {
    id: 'act.forbid.redirect',
    ...fromIssue,
    says: 'An act does not follow a redirect to an address that the rules would refuse.',
  },
  {
    id: 'act.facts.started-by',
    ...fromIssue,
    says: 'Rules on an act see whether a person, a schedule or a trigger started its run.',
  },
  {
    id: 'act.facts.recipients',
    ...fromIssue,
    says: 'Rules on a mail see exactly the addresses that it is delivered to.',
  },
  { id: 'act.facts.credits', ...fromIssue, says: 'Rules on an act see the credits that its run has spent.' },
  {
    id: 'act.anomaly',
    ...fromIssue,
    says: 'A rule holds or ends a run on the finding of its anomaly check; without one it continues.',
  },
  { id: 'act.forbid.tool', ...fromIssue, says: 'A model receives the refusal of its tool call.' },
  {
    id: 'act.hold',
    ...fromIssue,
    says: 'An act that needs an approval waits, shows it, and is made once after the approval.',
  },
  {
    id: 'act.edit',
    ...fromIssue,
    says: 'An approver edits fields of the act: the edited call has its own digest is sent, and is reported to the agent.',
  },
  {
    id: 'act.edit.refused',
    ...fromIssue,
    says: 'Edits of other fields, of other types, of a rejection and of other calls are refused.',
  },
  {
    id: 'act.edit.several',
    ...fromIssue,
    says: 'An edit restarts the count of approvals, and nobody approves an edited call unseen.',
  },
  { id: 'act.edit.rules', ...fromIssue, says: 'Rules decide on the edited call: what they forbid is not sent.' },
  {
    id: 'act.may-decide',
    ...fromIssue,
    says: 'Approvals, inbox items and the console say whether the reader may decide, and why not.',
  },
  { id: 'act.hold.reject', ...fromIssue, says: 'The agent receives the reason of a rejection.' },
  { id: 'act.hold.expiry', ...fromIssue, says: 'An approval that nobody decides refuses the act.' },
  {
    id: 'act.hold.starter',
    ...fromIssue,
    says: 'The person who started the run may decide only if the rule allows it; other attempts are refused and audited.',
  },
  {
    id: 'act.hold.changed',
    ...fromIssue,
    says: 'A changed call or policy version does not use the approval, and this is audited.',
  },
  {
    id: 'act.hold.once',
    ...fromIssue,
    says: 'An approval serves one call of one step: the same call of another step or run requests another approval.',
  },
  {
    id: 'act.hold.cause',
    ...fromIssue,
    says: 'Who edited or promoted the agentflow, or prepared, started, triggered or scheduled the run, decides its acts only if the rule allows it; an attempt is refused and audited.',
  },
  {
    id: 'act.hold.run-over',
    ...fromIssue,
    says: 'When a run ends, the approvals that it requested are withdrawn, even if it ended while its step requested one; approvals that were given and not used are ended and audited.',
  },
  { id: 'act.hold.killed', ...fromIssue, says: 'An act that waits survives the worker and reaches the receiver once.' },
  {
    id: 'act.hold.asked-once',
    ...fromIssue,
    says: 'An act whose worker was lost after it had requested an approval uses this approval, even if a person has decided since.',
  },
  {
    id: 'act.kills',
    ...fromIssue,
    says: 'In 500 runs with worker, API and Temporal killed at random, every approved act reaches the receiver once, no unapproved act does, and none is lost.',
    fullForm: 'KILLED_ACT_RUNS',
  },
  {
    id: 'act.unknown',
    ...fromIssue,
    says: 'An approved call whose answer was lost is repeated only if a person approves the repeat.',
  },
  {
    id: 'act.unknown.accept',
    ...fromIssue,
    says: 'A person accepts a call whose outcome is unknown as done: it is not repeated, and this is reported to the agent. Every other call cannot be accepted.',
  },
  {
    id: 'act.hold.used',
    ...fromIssue,
    says: 'A second use of an approval is refused and audited as used, also by a worker that repeats the step of one that was killed.',
  },
  {
    id: 'act.hold.rejected',
    ...fromIssue,
    says: 'A rejected act is not made, even if the rules have permitted it since.',
  },
  { id: 'act.cost', ...fromIssue, says: 'A permitted act adds a fixed number of calls to MongoDB.' },
  { id: 'act.cancel', ...fromIssue, says: 'Cancelling a run, also a paused one, withdraws its approval.' },
  {
    id: 'act.pause',
    ...fromIssue,
    says: 'A pause stops the clock of an approval: its expiry moves by the length of the pause, and it can be decided meanwhile.',
  },
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
  {
    id: 'act.telling-facts',
    source: 'docs/guides/govern-agents.md',
    says: 'Rules read the recipient domains, hosts, amount and currency of an act. A fact that cannot be computed has no value, so that a required approval asks.',
  },
] as const satisfies readonly Requirement[];
