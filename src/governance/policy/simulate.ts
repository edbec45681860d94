import { catalogFrom, type CatalogData } from '../operations/catalog.js';
import type { PolicyEvaluation } from './decision.js';
import { compileSet, createPolicyEngine } from './evaluate.js';
import { readsUnknown } from './reads.js';
import { createReport, type SimulationReport } from './simulation-report.js';
import type { RecordedCall, RecordedRequest, SkipReason } from './recorded-call.js';
import { refuseInvalid } from './refuse-invalid.js';
import type { PolicyRule } from './rule.js';

type Decision = PolicyEvaluation['decision'];

/** Plain data that can be copied to a thread. */
export interface SimulationInput {
  catalog: CatalogData;
  /** The rules in force, to which the candidate is compared. */
  present: PolicyRule[];
  candidate: PolicyRule[];
  /** Newest first. */
  calls: RecordedCall[];
}

interface ChangedCall extends Omit<RecordedCall, keyof RecordedRequest> {
  candidate: { decision: Decision; rules: string[] };
}

export interface Simulation extends SimulationReport {
  evaluated: number;
  unchanged: number;
  changed_count: number;
  /** The newest changed calls. */
  changed: ChangedCall[];
  transitions: { from: Decision; to: Decision; count: number }[];
  skipped: { reason: SkipReason; count: number }[];
}

export const simulationBounds = { calls: 1000, changed: 100, rules: 20, evaluationMs: 5000 } as const;

/** One set suffices, because a thread uses one set after another. */
const engine = createPolicyEngine(1);

/**
 * Decides recorded calls by the candidate, with the function that decides real calls. Takes seconds for the largest sets,
 * so it runs in a thread.
 * @throws AppError `validation_failed` as for rules that are to be stored
 */
export function simulate({ catalog: data, present, candidate, calls }: SimulationInput): Simulation {
  const catalog = catalogFrom(data);
  refuseInvalid(catalog, candidate);
  const set = compileSet(catalog, 0, candidate);
  const tally: Tally = { evaluated: 0, unchanged: 0, changed_count: 0, changed: [], transitions: [], skipped: [] };
  const report = createReport(catalog, present, candidate);
  const until = performance.now() + simulationBounds.evaluationMs;
  const skipCall = (call: RecordedCall, reason: SkipReason) => {
    skip(tally, reason);
    report.notTried(call, reason);
  };
  for (const recorded of calls) {
    const { request, unknown, ...call } = recorded;
    if (readsUnknown(set.read(call.operation), unknown)) skipCall(recorded, 'facts_not_recorded');
    else if (performance.now() > until) skipCall(recorded, 'time_limit');
    else {
      const operation = catalog.named(call.operation);
      const decided = engine.evaluate(set, { ...request, operation, input: {} });
      note(tally, call, decided);
      report.tried(recorded, decided);
    }
  }
  return { ...tally, ...report.result() };
}

type Tally = Omit<Simulation, keyof SimulationReport>;

function note(tally: Tally, call: Omit<ChangedCall, 'candidate'>, { decision, policy_ids }: PolicyEvaluation) {
  tally.evaluated += 1;
  const from = call.recorded.decision;
  if (from === decision) {
    tally.unchanged += 1;
    return;
  }
  tally.changed_count += 1;
  const transition = tally.transitions.find((each) => each.from === from && each.to === decision);
  if (transition) transition.count += 1;
  else tally.transitions.push({ from, to: decision, count: 1 });
  if (tally.changed.length < simulationBounds.changed)
    tally.changed.push({ ...call, candidate: { decision, rules: policy_ids.slice(0, simulationBounds.rules) } });
}

export function skip({ skipped }: Pick<Simulation, 'skipped'>, reason: SkipReason, count = 1): void {
  const present = skipped.find((each) => each.reason === reason);
  if (present) present.count += count;
  else if (count > 0) skipped.push({ reason, count });
}

declare module '../../threads/threads.js' {
  interface ThreadJobs {
    simulatePolicies(input: SimulationInput): Simulation;
  }
}
