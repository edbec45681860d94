import { evaluatePolicies, listPolicyOperations } from '../../../domain/governance/evaluate.js';
import {
  addPolicyRule,
  changePolicyRule,
  deletePolicyRule,
  listPolicyVersions,
  readPolicies,
  readPolicyVersion,
  replacePolicies,
} from '../../../domain/governance/policies.js';
import { simulatePolicies } from '../../../domain/governance/simulate.js';
import { AppError } from '../../../base/errors.js';
import type { PolicySet } from '../../../governance/policy/rule.js';
import { routesOf, type Route } from '../../rest/define-route.js';

const route = routesOf('governance');
const newVersion = 'The new version. It applies to the next call in every process.';
const asOperation = 'Rules cover it as `policies.replace`.';
const headers = ({ version }: PolicySet) => ({ ETag: `"${version}"` });

/** The organization's policies, for its administrators (contract, policies). `names`: what rules can name. */
export const policyRoutes = (names: readonly string[]): readonly Route[] => [
  route('GET /v1/policies', readPolicies, {
    summary: 'Read the policies in force',
    response: { description: 'The set, with its version as `ETag`.', headers },
  }),
  route('PUT /v1/policies', replacePolicies, {
    summary: 'Replace all rules by a new version',
    description:
      'Removes every rule of the organization that the body does not contain. To change one rule, use `POST /v1/policies/rules`, `PATCH` or `DELETE /v1/policies/rules/{policy_id}`. If any rule is invalid, the whole set is refused with the problem of each rule, and the current policies remain in force. A rule that forbids `policies.replace` does not apply to an OWNER with a user token or a session.',
    response: { description: 'The new version. It applies to the next call in every process.', headers },
    handler: ({ input, ...call }) => {
      const expected_version = expectedVersion(call.ctx.req.get('if-match'), input.expected_version);
      return replacePolicies.run({ ...call, input: { ...input, expected_version } });
    },
  }),
  route('POST /v1/policies/rules', addPolicyRule, {
    summary: 'Add a rule to the policies',
    description: `Keeps all other rules. Adding the same rule again changes nothing; 409 if another rule has its \`policy_id\`. ${asOperation}`,
    response: { status: 201, description: newVersion, headers },
    idempotent: true,
    repeatable: true,
    handler: ({ input, ...call }) => {
      const expected_version = expectedVersion(call.ctx.req.get('if-match'), input.expected_version);
      return addPolicyRule.run({ ...call, input: { ...input, expected_version } });
    },
  }),
  route('PATCH /v1/policies/rules/{policy_id}', changePolicyRule, {
    summary: 'Change fields of one rule',
    description: `Keeps its other fields and all other rules. ${asOperation}`,
    response: { description: newVersion, headers },
    handler: ({ input, ...call }) => {
      const expected_version = expectedVersion(call.ctx.req.get('if-match'), input.expected_version);
      return changePolicyRule.run({ ...call, input: { ...input, expected_version } });
    },
  }),
  route('DELETE /v1/policies/rules/{policy_id}', deletePolicyRule, {
    summary: 'Delete one rule',
    description: `Keeps all other rules. ${asOperation}`,
    response: { description: newVersion, headers },
    handler: ({ key, ...call }) => {
      const expected_version = expectedVersion(call.ctx.req.get('if-match'), key.expected_version);
      return deletePolicyRule.run({ ...call, key: { ...key, expected_version } });
    },
  }),
  route('GET /v1/policies/operations', listPolicyOperations, {
    summary: 'List the operations that rules can name, with the facts that rules can read',
    response: { description: 'All operations.' },
  }),
  route('POST /v1/policies/evaluate', evaluatePolicies(names), {
    summary: 'Evaluate the policies for a call, without any effect',
    description:
      'Decides by the rules in force; with `rules` or `rule`, by edited rules that are not stored. `policy_version` is the version in force.',
    repeatable: true,
    response: { description: 'The decision that S5 would make about the call.' },
  }),
  route('POST /v1/policies/simulate', simulatePolicies(names), {
    summary: 'Try policies on the last recorded calls, without any effect',
    description:
      'Decides the last `n` recorded calls again, by the candidate instead of the policies that were in force. The candidate is a whole set (`policies`), or one rule in addition to those in force (`rule`). Owners and organization admins see the calls of all projects, others those of their own project.',
    repeatable: true,
    response: { description: 'What would have been decided differently.' },
  }),
  route('GET /v1/policies/versions', listPolicyVersions, {
    summary: 'List the versions of the policies',
    response: { description: 'Newest first.' },
  }),
  route('GET /v1/policies/versions/{version}', readPolicyVersion, {
    summary: 'Read one version of the policies',
    response: { description: 'The version as it was stored.' },
  }),
];

function expectedVersion(ifMatch: string | undefined, inBody: number | undefined): number | undefined {
  if (ifMatch === undefined || ifMatch === '*') return inBody;
  const version = Number(/^(?:W\/)?"(\d{1,10})"$/.exec(ifMatch)?.[1] ?? NaN);
  if (Number.isNaN(version)) throw new AppError('invalid_request', 'If-Match: must be the ETag of GET /v1/policies');
  if (inBody !== undefined && inBody !== version)
    throw new AppError('invalid_request', 'If-Match and expected_version do not agree');
  return version;
}
