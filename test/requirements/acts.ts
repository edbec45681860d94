import type { Requirement } from './requirement.js';

const ofActs = { source: 'docs/guides/govern-agents.md' } as const;

export const acts = [
  { id: 'act.permit', ...ofActs, says: 'A permitted act is made, with a lifecycle and an audit entry.' },
  { id: 'act.facts', ...ofActs, says: 'Rules on an act see host, method, arguments, agent and who started the run.' },
  {
    id: 'act.forbid',
    ...ofActs,
    says: 'A forbidden act is not made; the agent receives the refusal and the run continues.',
  },
  {
    id: 'act.forbid.redirect',
    ...ofActs,
    says: 'An act does not follow a redirect to an address that the rules would refuse.',
  },
  {
    id: 'act.facts.started-by',
    ...ofActs,
    says: 'Rules on an act see whether a person, a schedule or a trigger started its run.',
  },
  { id: 'act.facts.recipients', ...ofActs, says: 'Rules on a mail see exactly the addresses that it is delivered to.' },
  { id: 'act.facts.credits', ...ofActs, says: 'Rules on an act see the credits that its run has spent.' },
  {
    id: 'act.anomaly',
    ...ofActs,
    says: 'A rule holds or ends a run on the finding of its anomaly check; without one it continues.',
  },
  { id: 'act.forbid.tool', ...ofActs, says: 'A model receives the refusal of its tool call.' },
  {
    id: 'act.hold',
    ...ofActs,
    says: 'An act that needs an approval waits, shows it, and is made once after the approval.',
  },
  {
    id: 'act.edit',
    ...ofActs,
    says: 'An approver edits fields of the act: the edited call has its own digest is sent, and is reported to the agent.',
  },
  {
    id: 'act.edit.refused',
    ...ofActs,
    says: 'Edits of other fields, of other types, of a rejection and of other calls are refused.',
  },
  {
    id: 'act.edit.several',
    ...ofActs,
    says: 'An edit restarts the count of approvals, and nobody approves an edited call unseen.',
  },
  { id: 'act.edit.rules', ...ofActs, says: 'Rules decide on the edited call: what they forbid is not sent.' },
  {
    id: 'act.may-decide',
    ...ofActs,
    says: 'Approvals, inbox items and the console say whether the reader may decide, and why not.',
  },
  { id: 'act.hold.reject', ...ofActs, says: 'The agent receives the reason of a rejection.' },
  { id: 'act.hold.expiry', ...ofActs, says: 'An approval that nobody decides refuses the act.' },
  {
    id: 'act.hold.starter',
    ...ofActs,
    says: 'The person who started the run may decide only if the rule allows it; other attempts are refused and audited.',
  },
  {
    id: 'act.hold.changed',
    ...ofActs,
    says: 'A changed call or policy version does not use the approval, and this is audited.',
  },
  {
    id: 'act.hold.once',
    ...ofActs,
    says: 'An approval serves one call of one step: the same call of another step or run requests another approval.',
  },
  {
    id: 'act.hold.cause',
    ...ofActs,
    says: 'Who edited or promoted the agentflow, or prepared, started, triggered or scheduled the run, decides its acts only if the rule allows it; an attempt is refused and audited.',
  },
  {
    id: 'act.hold.run-over',
    ...ofActs,
    says: 'When a run ends, the approvals that it requested are withdrawn, even if it ended while its step requested one; approvals that were given and not used are ended and audited.',
  },
  { id: 'act.hold.killed', ...ofActs, says: 'An act that waits survives the worker and reaches the receiver once.' },
  {
    id: 'act.hold.asked-once',
    ...ofActs,
    says: 'An act whose worker was lost after it had requested an approval uses this approval, even if a person has decided since.',
  },
  {
    id: 'act.kills',
    ...ofActs,
    says: 'In 500 runs with worker, API and Temporal killed at random, every approved act reaches the receiver once, no unapproved act does, and none is lost.',
    fullForm: 'KILLED_ACT_RUNS',
  },
  {
    id: 'act.unknown',
    ...ofActs,
    says: 'An approved call whose answer was lost is repeated only if a person approves the repeat.',
  },
  {
    id: 'act.unknown.accept',
    ...ofActs,
    says: 'A person accepts a call whose outcome is unknown as done: it is not repeated, and this is reported to the agent. Every other call cannot be accepted.',
  },
  {
    id: 'act.hold.used',
    ...ofActs,
    says: 'A second use of an approval is refused and audited as used, also by a worker that repeats the step of one that was killed.',
  },
  {
    id: 'act.hold.rejected',
    ...ofActs,
    says: 'A rejected act is not made, even if the rules have permitted it since.',
  },
  { id: 'act.cost', ...ofActs, says: 'A permitted act adds a fixed number of calls to MongoDB.' },
  { id: 'act.cancel', ...ofActs, says: 'Cancelling a run, also a paused one, withdraws its approval.' },
  {
    id: 'act.pause',
    ...ofActs,
    says: 'A pause stops the clock of an approval: its expiry moves by the length of the pause, and it can be decided meanwhile.',
  },
  {
    id: 'act.mcp',
    ...ofActs,
    says: 'Rules permit, forbid and hold calls of the tools of MCP servers by the annotations that a person accepted; an approved call is made once.',
  },
  {
    id: 'act.sample',
    ...ofActs,
    says: 'npm start leaves a second run that waits for an approval of its call; the printed command approves it, and the run is completed.',
  },
  {
    id: 'act.sample.one',
    ...ofActs,
    says: 'However often npm start runs, one run of the sample waits for an approval.',
  },
  {
    id: 'act.telling-facts',
    source: 'docs/guides/govern-agents.md',
    says: 'Rules read the recipient domains, hosts, amount and currency of an act. A fact that cannot be computed has no value, so that a required approval asks.',
  },
] as const satisfies readonly Requirement[];
