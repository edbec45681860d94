import type { Requirement } from './requirement.js';

/** The pipeline of a governed call: stages, quota, policy, approvals, dry runs, audit. */
export const governance = [
  {
    id: 'turns.aborted-call',
    source: 'docs/architecture.md',
    says: 'A call that has already ended does not wait for a turn.',
  },
  {
    id: 'docs.links',
    source: 'docs/architecture.md',
    says: 'Each relative link in the documentation names an existing file and an existing heading.',
  },
  {
    id: 'sweep.failing-records',
    source: 'docs/architecture.md',
    says: 'A record that a sweep cannot process does not keep the sweep from the other records.',
  },
  {
    id: 'pipeline.order',
    source: 'docs/specification.md#governed-calls',
    says: 'The stages run from S1 to S8 in order, and no stage runs after the one that refuses.',
  },
  {
    id: 'pipeline.refusal-code',
    source: 'docs/specification.md#governed-calls',
    says: 'The error code of a refusal is the id of its stage.',
  },
  {
    id: 'pipeline.s1-authenticate',
    source: 'docs/specification.md#governed-calls',
    says: 'S1 verifies the credential before any other check.',
  },
  {
    id: 'pipeline.s2-resolve-scope',
    source: 'docs/specification.md#governed-calls',
    says: 'S2 determines organization, department, project and role, and refuses with 403 a credential without the grant.',
  },
  {
    id: 'pipeline.s3-rate-quota',
    source: 'docs/specification.md#governed-calls',
    says: 'S3 counts the call against the windows of its project and organization and refuses with 429.',
  },
  {
    id: 'pipeline.s4-validate-input',
    source: 'docs/specification.md#governed-calls',
    says: 'S4 validates payload and query and refuses with 422 input that parses but is not allowed.',
  },
  {
    id: 'pipeline.s5-policy',
    source: 'docs/specification.md#governed-calls',
    says: 'S5 evaluates the policies in force and refuses with 403 what they forbid or do not permit.',
  },
  {
    id: 'pipeline.s6-approval',
    source: 'docs/specification.md#governed-calls',
    says: 'S6 holds a call that needs an approval and lets it pass with its resume token.',
  },
  {
    id: 'pipeline.s7-dry-run',
    source: 'docs/specification.md#governed-calls',
    says: 'A call with dry_run stops at S7, reports its effect, and changes nothing.',
  },
  {
    id: 'pipeline.s8-execute',
    source: 'docs/specification.md#governed-calls',
    says: 'S8 executes the call, and a failing downstream service is a refusal of this stage.',
  },
  {
    id: 'pipeline.lifecycle-id',
    source: 'docs/specification.md#governed-calls',
    says: 'One lifecycle id connects the answer, the trace, the policy decision, an approval and the audit entry of a call.',
  },
  {
    id: 'pipeline.stored-before-answer',
    source: 'docs/specification.md#governed-calls',
    says: 'After kill -9 of the API in a burst, every answered call has its lifecycle and its audit entry.',
  },
  {
    id: 'pipeline.every-refusal-recorded',
    source: 'docs/guides/gateway.md',
    says: 'Every refusal has a lifecycle whose first failed stage is the one that refused.',
  },
  {
    id: 'pipeline.details-without-secrets',
    source: 'docs/specification.md#governed-calls',
    says: 'Stage details do not contain a credential, token or personal value of the call.',
  },
  {
    id: 'pipeline.one-for-all-surfaces',
    source: 'docs/specification.md#governed-calls',
    says: 'A tool call over MCP passes the same stages and leaves the same records as over REST.',
  },

  {
    id: 'quota.project-window',
    source: 'docs/specification.md#governed-calls',
    says: 'By default a project can make at most 120 gateway calls within any window.',
  },
  {
    id: 'quota.organization-window',
    source: 'docs/specification.md#governed-calls',
    says: 'By default an organization can make at most 600 gateway calls within any window, across all of its projects.',
  },
  {
    id: 'quota.sliding',
    source: 'docs/specification.md#governed-calls',
    says: 'The window slides over 60 seconds: the next call is admitted when the oldest call leaves the window.',
  },
  {
    id: 'quota.zero-unlimited',
    source: 'docs/specification.md#governed-calls',
    says: 'A maximum of 0 admits every call and is reported as 0.',
  },
  {
    id: 'quota.exact-over-processes',
    source: 'docs/guides/gateway.md',
    says: 'With two API processes and 1,000 concurrent calls, exactly 120 are admitted.',
  },
  {
    id: 'quota.refused-uncounted',
    source: 'docs/specification.md#governed-calls',
    says: 'A refused call does not count towards the window.',
  },
  {
    id: 'quota.refusal',
    source: 'docs/specification.md#errors',
    says: 'The refusal names the project and the seconds to wait; after that time a call is admitted.',
  },

  {
    id: 'policy.permit-forbid',
    source: 'docs/specification.md#governed-calls',
    says: 'Permit and forbid rules can test principal, tool, resource and context, and forbid takes precedence.',
  },
  {
    id: 'policy.decision-names-rules',
    source: 'docs/specification.md#governed-calls',
    says: 'Every decision is stored with its decisive rules and the version of the policies.',
  },
  {
    id: 'policy.invalid-refused',
    source: 'docs/specification.md#context-gateway',
    says: 'Invalid policies are refused, and the current ones stay in force.',
  },

  {
    id: 'approval.workflow',
    source: 'docs/specification.md#workflows',
    says: 'Each approval is a workflow named approval/<id>, which the update decide decides.',
  },
  {
    id: 'approval.pending',
    source: 'docs/specification.md#governed-calls',
    says: 'A call that needs approval is answered 202 with status pending_approval, approval_id, lifecycle_id and expires_at.',
  },
  {
    id: 'approval.approved',
    source: 'docs/specification.md#governed-calls',
    says: 'An approved approval gives its requester one resume token.',
  },
  {
    id: 'approval.rejected',
    source: 'docs/specification.md#governed-calls',
    says: 'A rejected approval never lets its call pass.',
  },
  {
    id: 'approval.expired',
    source: 'docs/specification.md#workflows',
    says: 'An approval not decided in time expires by a timer that outlives restarts.',
  },
  {
    id: 'approval.not-pending',
    source: 'docs/specification.md#governed-calls',
    says: 'Deciding an approval that is no longer pending is answered 409 conflict.',
  },
  {
    id: 'approval.roles',
    source: 'docs/specification.md#context-gateway',
    says: 'Only OWNER, ORG_ADMIN and PROJECT_ADMIN can decide, and never about their own requests.',
  },
  {
    id: 'approval.previews-are-approvals',
    source: 'docs/guides/gateway.md',
    says: 'A preview is an approval under the rule builtin.preview: with a digest and a time limit, listed and decided like any other, also by the person who started the run.',
  },
  {
    id: 'approval.previews',
    source: 'docs/guides/gateway.md',
    says: 'A rule can ask several people, or people with certain roles, about the decision on a preview, with the same approvals as for any call.',
  },
  {
    id: 'approval.named-roles',
    source: 'docs/guides/gateway.md',
    says: 'A rule can name the roles that may decide, for every kind of approval; the names of an approval do not change.',
  },
  {
    id: 'approval.several-approvers',
    source: 'docs/specification.md#context-gateway',
    says: 'If a policy requires several approvers, that many different people must approve.',
  },
  {
    id: 'approval.token.once',
    source: 'docs/specification.md#governed-calls',
    says: 'A resume token lets its call pass once; a second use is answered 403 at S6:approval.',
  },
  {
    id: 'approval.token.bound',
    source: 'docs/specification.md#governed-calls',
    says: 'A resume token with another payload, caller, project, tool or policy version is answered 403 at S6:approval.',
  },
  {
    id: 'approval.token.ended',
    source: 'docs/guides/gateway.md',
    says: 'An expired, a forged and a rejected resume token are each answered 403 at S6:approval.',
  },

  {
    id: 'audit.chain',
    source: 'docs/specification.md#governed-calls',
    says: 'Each organization has one chain of SHA-256 hashes over canonical JSON without gaps or forks under concurrent appends.',
  },
  {
    id: 'audit.tamper.changed',
    source: 'docs/guides/gateway.md',
    says: 'Verification detects and names a changed entry.',
  },
  {
    id: 'audit.tamper.removed',
    source: 'docs/guides/gateway.md',
    says: 'A removed entry and two swapped entries are found and named.',
  },
  {
    id: 'audit.filters.exact-action',
    source: 'docs/guides/gateway.md',
    says: 'The audit filter `exact_action` finds only this action, not others that begin alike.',
  },
  { id: 'audit.tamper.cut', source: 'docs/guides/gateway.md', says: 'The checkpoints reveal a truncated chain.' },
  {
    id: 'audit.tamper.rewritten',
    source: 'docs/guides/gateway.md',
    says: 'The checkpoints reveal a chain that was completely rewritten.',
  },

  {
    id: 'downstream.graph-down',
    source: 'docs/guides/gateway.md',
    says: 'While Neo4j is down, a query is answered 502 data_service_unreachable; when it is back, queries work without a restart.',
  },
  {
    id: 'downstream.harness-down',
    source: 'docs/specification.md#errors',
    says: 'While Temporal is down, run-agent and orchestrate are answered 502 harness_unreachable.',
  },

  {
    id: 'input.not-json',
    source: 'docs/guides/gateway.md',
    says: 'A tool body that is not JSON is answered 400 invalid_request.',
  },
  {
    id: 'input.wrong-type',
    source: 'docs/guides/gateway.md',
    says: 'A missing field or a field of a wrong type is answered 400, and the error names it.',
  },
  {
    id: 'input.bounded',
    source: 'docs/guides/gateway.md',
    says: 'A body that is too deep or too large is answered 422 or 413 before it costs memory or time.',
  },
  {
    id: 'input.hostile-text',
    source: 'docs/guides/gateway.md',
    says: 'NUL bytes, lone surrogates and prototype keys are stored, refused or answered without a 5xx and do not affect others.',
  },

  {
    id: 'governance.grants',
    source: 'docs/guides/gateway.md',
    says: 'Policies, the audit chain and the approvals of others require a person with the role or a key with the explicit governance grant.',
  },
  {
    id: 'governance.grants.given',
    source: 'docs/specification.md#conventions',
    says: 'Only OWNER and ORG_ADMIN can give a governance grant, and no default includes one.',
  },
  {
    id: 'operation.no-bypass',
    source: 'docs/guides/gateway.md',
    says: 'A rule about an operation applies to every route, tool, schedule and event that calls it.',
  },
  {
    id: 'operation.governed-mode',
    source: 'docs/guides/gateway.md',
    says: 'In governed mode clients cannot write context: save-context, catalog-ingest and knowledge uploads are answered 403 S5:policy.',
  },
  {
    id: 'operation.platform-writes',
    source: 'docs/guides/gateway.md',
    says: 'Every platform write is policy-checked and has a lifecycle, which X-Lifecycle-Id names, a decision and an audit entry.',
  },
  {
    id: 'operation.platform-held',
    source: 'docs/specification.md#conventions',
    says: 'A rule can hold a platform write: the answer is 202 pending_approval, and the same request with X-Resume-Token then passes.',
  },
  {
    id: 'operation.data-events',
    source: 'docs/specification.md#conventions',
    says: 'Data changes are always policy-checked, and are recorded if the project settings turn data_events on.',
  },
  {
    id: 'operation.every-route',
    source: 'docs/guides/gateway.md',
    says: 'Every route performs an operation that rules know, or docs/architecture.md names it and the reason.',
  },
  {
    id: 'operation.entrances',
    source: 'docs/architecture.md#one-operation',
    says: 'One table says what the kernel checks for each way in: limit, policies, approval, dry run and record.',
  },
  {
    id: 'operation.grant',
    source: 'docs/guides/gateway.md',
    says: 'A call needs the grant of its operation, whichever surface it comes from.',
  },
  {
    id: 'operation.intent',
    source: 'docs/guides/gateway.md',
    says: 'A sweep adds the lifecycle and audit entry of a call whose process died between its effect and its record.',
  },
  {
    id: 'approval.token-unused',
    source: 'docs/guides/gateway.md',
    says: 'The calls that wait for a resume token end as denied when it expires unused, and this is audited.',
  },
  {
    id: 'approval.token-returned',
    source: 'docs/guides/gateway.md',
    says: 'A resume token is bound to the lifecycle of its call and can be used again if that call did not complete.',
  },
  {
    id: 'approval.used',
    source: 'docs/guides/gateway.md',
    says: 'An approval is shown as used after its call was executed, and the held call shows its outcome.',
  },
  {
    id: 'approval.payload',
    source: 'docs/guides/gateway.md',
    says: 'Approvers can read the call until they decide; it is sealed when stored and contains no secrets or personal data.',
  },
  {
    id: 'approval.binds-what-runs',
    source: 'docs/guides/gateway.md',
    says: 'An approval applies to the draft or version that existed when it was requested.',
  },
  {
    id: 'approval.refusal-texts',
    source: 'docs/guides/gateway.md',
    says: 'S6 says whether a token was used, expired or issued for another call, and whether the approval was rejected.',
  },
  {
    id: 'policy.channel',
    source: 'docs/guides/gateway.md',
    says: 'Rules can test the OAuth client and the channel of a call, so that agents may need approval where people do not.',
  },
  {
    id: 'policy.unknown-operation',
    source: 'docs/guides/gateway.md',
    says: 'Rules and evaluations accept every operation by its name and by the name of its tool; a rule with an unknown operation is answered 422.',
  },
  {
    id: 'policy.same-rules',
    source: 'docs/guides/gateway.md',
    says: 'Replacing the policies with the same rules creates no new version and invalidates no resume token.',
  },
  {
    id: 'policy.own-rules',
    source: 'docs/guides/gateway.md',
    says: 'Only a rule that names policy changes and approval decisions covers them, so that a broad rule cannot lock everybody out.',
  },
  {
    id: 'audit.what-auditors-ask',
    source: 'docs/guides/gateway.md',
    says: 'Sign-ins, keys, roles, policies, decisions and every platform write have audit entries.',
  },
  {
    id: 'audit.filters',
    source: 'docs/guides/gateway.md',
    says: 'The audit list is filtered by actor, action, resource, outcome, lifecycle and time, and names its actors.',
  },
  {
    id: 'audit.pinned-keys',
    source: 'docs/guides/gateway.md',
    says: 'A stored checkpoint that no pinned key signed breaks the chain.',
  },
  {
    id: 'audit.repeated-recording',
    source: 'docs/guides/gateway.md',
    says: 'A repeated recording of a service run reads only the end of the chain.',
  },
  {
    id: 'operation.caused-grants',
    source: 'docs/decisions/0018-authority-of-background-work.md',
    says: 'A call needs the grants of every operation that it causes, and the rules of each of them apply to it.',
  },
  {
    id: 'operation.caused-authority',
    source: 'docs/decisions/0018-authority-of-background-work.md',
    says: 'Work in the background acts with the grants of the credential that caused it and the present role, and ends with that credential.',
  },
  {
    id: 'operation.key-over-body',
    source: 'docs/decisions/0018-authority-of-background-work.md',
    says: 'Rules and approvals see the record that the path names, whatever the body says.',
  },
  {
    id: 'idempotency.lease-renewed',
    source: 'docs/guides/api-reference.md',
    says: 'A request with an Idempotency-Key that takes long is not run a second time while its process lives.',
  },
] as const satisfies readonly Requirement[];
