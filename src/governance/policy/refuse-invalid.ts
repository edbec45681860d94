import { AppError } from '../../base/errors.js';
import { catalogFrom, type Catalog, type CatalogData } from '../operations/catalog.js';
import { problemsOf, type RuleProblem } from './compile.js';
import { builtinPrefix } from './default-rules.js';
import type { PolicyRule } from './rule.js';

/** Plain data that can be copied to a thread. */
export interface PolicyCheck {
  catalog: CatalogData;
  policies: PolicyRule[];
}

/** `refuseInvalid` for a thread, because the largest sets take seconds and the longest conditions need a deep stack. */
export function checkPolicies({ catalog, policies }: PolicyCheck): void {
  refuseInvalid(catalogFrom(catalog), policies);
}

declare module '../../threads/threads.js' {
  interface ThreadJobs {
    checkPolicies(check: PolicyCheck): void;
  }
}

/** @throws AppError `validation_failed` with each rule that cannot be stored, and its problem */
export function refuseInvalid(catalog: Catalog, policies: readonly PolicyRule[]): void {
  const reserved = policies.filter(({ policy_id }) => policy_id.startsWith(builtinPrefix));
  const problems: RuleProblem[] = reserved.map(({ policy_id }) => ({
    policy_id,
    problem: `the prefix ${builtinPrefix} is reserved`,
  }));
  problems.push(...problemsOf(catalog, policies));
  if (problems.length === 0) return;
  const lines = problems.slice(0, 20).map(({ policy_id, problem }) => `${policy_id}: ${problem}`);
  throw new AppError('validation_failed', lines.join('; '));
}
