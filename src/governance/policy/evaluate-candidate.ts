import { catalogFrom, type CatalogData } from '../operations/catalog.js';
import type { PolicyEvaluation } from './decision.js';
import { compileSet, createPolicyEngine, type PolicyRequest } from './evaluate.js';
import { refuseInvalid } from './refuse-invalid.js';
import type { PolicyRule } from './rule.js';

/** Plain data that can be copied to a thread. */
export interface CandidateTrial {
  catalog: CatalogData;
  candidate: PolicyRule[];
  /** The name of the operation of the call. */
  operation: string;
  request: Omit<PolicyRequest, 'operation'>;
  /** The version in force, which the candidate would replace. */
  version: number;
}

/** One set suffices, because a thread uses one set after another. */
const engine = createPolicyEngine(1);

/**
 * Decides a call by rules that are not stored. Runs in a thread, because the check of the largest sets takes seconds.
 * @throws AppError `validation_failed` as for rules that are to be stored
 */
export function evaluateCandidate({
  catalog,
  candidate,
  operation,
  request,
  version,
}: CandidateTrial): PolicyEvaluation {
  const operations = catalogFrom(catalog);
  refuseInvalid(operations, candidate);
  const set = compileSet(operations, version, candidate);
  return engine.evaluate(set, { ...request, operation: operations.named(operation) });
}

declare module '../../threads/threads.js' {
  interface ThreadJobs {
    evaluateCandidate(trial: CandidateTrial): PolicyEvaluation;
  }
}
