import type { Requirement } from './requirement.js';

/** Changes and trials of the policies, and what follows from them. */
export const policies = [
  {
    id: 'policy.rules.one-by-one',
    source: 'docs/guides/gateway.md',
    says: 'One rule is added, changed and deleted without touching the others; each change is a new version.',
  },
  {
    id: 'policies.reason',
    source: 'docs/guides/gateway.md',
    says: 'A change of the policies can have a reason, which the list of versions shows.',
  },
  {
    id: 'policies.error-line',
    source: 'docs/guides/gateway.md',
    says: 'A syntax error in a condition of a rule names its line.',
  },
  {
    id: 'policy.rules.compare-and-set',
    source: 'docs/guides/gateway.md',
    says: 'A change of one rule with expected_version or If-Match is refused with 409 if another version is in force.',
  },
  {
    id: 'policy.rules.concurrent',
    source: 'docs/guides/gateway.md',
    says: 'Changes of different rules at the same time all survive, in one process and in several.',
  },
  {
    id: 'policy.rules.same-checks',
    source: 'docs/guides/gateway.md',
    says: 'A change of one rule passes the checks of PUT /v1/policies: validation, limits, grants, foreign projects and rules about policies.replace.',
  },
  {
    id: 'policy.rules.approval',
    source: 'docs/guides/gateway.md',
    says: 'A rule can hold the change of one rule for an approval, which shows the rule and is valid only for this change.',
  },
  {
    id: 'policy.rules.audit',
    source: 'docs/guides/gateway.md',
    says: 'The audit entry of a change of one rule names the rule, and a repeated Idempotency-Key adds a rule once.',
  },
  {
    id: 'policy.simulate.says-what-it-lacks',
    source: 'docs/guides/gateway.md',
    says: 'A simulation says for each operation and rule how many recorded calls could be tried, and which facts a rule lacks.',
  },
  {
    id: 'policy.evaluate.candidate',
    source: 'docs/guides/gateway.md',
    says: 'POST /v1/policies/evaluate decides by edited rules that are not stored, and by facts that the caller writes.',
  },
  {
    id: 'connectors.test-call.redirects',
    source: 'docs/decisions/0020-acts-of-agents.md',
    says: 'Rules decide on each redirect of a test call of a connector before it is followed.',
  },
  {
    id: 'audit.filters.match-their-label',
    source: 'docs/guides/gateway.md',
    says: 'The filters of the audit chain find an actor by a part of the name or by the id, and other fields by their beginning.',
  },
  {
    id: 'policy.simulate',
    source: 'docs/guides/govern-agents.md',
    says: 'POST /v1/policies/simulate decides recorded calls by a candidate and reports the calls with another decision.',
  },
  { id: 'policy.simulate.no-effect', source: 'docs/guides/govern-agents.md', says: 'A simulation stores nothing.' },
  {
    id: 'policy.simulate.never-guesses',
    source: 'docs/guides/govern-agents.md',
    says: 'A simulation skips and counts each call of which the candidate reads something that was not recorded.',
  },
  {
    id: 'policy.simulate.tenancy',
    source: 'docs/guides/govern-agents.md',
    says: 'A simulation needs svc:governance.read, and sees only calls of the organization, or of the project of its administrator.',
  },
  {
    id: 'policy.simulate.validates',
    source: 'docs/guides/govern-agents.md',
    says: 'A simulation refuses a candidate with the status and the text with which PUT /v1/policies refuses it.',
  },
  {
    id: 'policy.facts-recorded',
    source: 'docs/guides/govern-agents.md',
    says: 'The lifecycle of a decided call keeps what the policies could read of it, but no secret and no personal data.',
  },
] as const satisfies readonly Requirement[];
