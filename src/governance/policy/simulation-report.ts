import canonicalize from 'canonicalize';
import type { Catalog } from '../operations/catalog.js';
import { compileRules } from './compile.js';
import type { PolicyEvaluation } from './decision.js';
import { attributesRead, mayApply, mayRead } from './reads.js';
import type { PolicyRule } from './rule.js';
import type { RecordedCall, SkipReason } from './recorded-call.js';

/** The recorded calls that an operation or a rule covers, and what became of them. */
interface Coverage {
  calls: number;
  tried: number;
  changed: number;
  not_tried: { reason: SkipReason; count: number }[];
}

interface OperationCoverage extends Coverage {
  operation: string;
}

interface RuleCoverage extends Coverage {
  policy_id: string;
  change: 'added' | 'changed' | 'deleted' | 'none';
  /** The facts that the rule reads and that calls which were not tried do not contain. */
  unrecorded_facts: string[];
}

export interface SimulationReport {
  operations: OperationCoverage[];
  rules: RuleCoverage[];
}

const emptyCoverage = (): Coverage => ({ calls: 0, tried: 0, changed: 0, not_tried: [] });

/** Counts for each operation and each rule which recorded calls a simulation tried, and why it did not try the others. */
export function createReport(catalog: Catalog, present: readonly PolicyRule[], candidate: readonly PolicyRule[]) {
  const operations = new Map<string, OperationCoverage>();
  const ofRules = rulesToReport(present, candidate).map((rule) => reportOf(catalog, rule));
  const covering = ({ operation, project_id }: RecordedCall): Coverage[] => {
    const known = operations.get(operation) ?? { operation, ...emptyCoverage() };
    operations.set(operation, known);
    return [known, ...ofRules.filter((rule) => rule.covers(operation, project_id)).map(({ coverage }) => coverage)];
  };
  return {
    tried(call: RecordedCall, { decision, policy_ids }: PolicyEvaluation): void {
      const isChanged = decision !== call.recorded.decision;
      const determining = [...policy_ids, ...call.recorded.rules];
      for (const coverage of covering(call)) {
        coverage.calls += 1;
        coverage.tried += 1;
        const determined = !('policy_id' in coverage) || determining.includes(coverage.policy_id as string);
        if (isChanged && determined) coverage.changed += 1;
      }
    },
    notTried(call: RecordedCall, reason: SkipReason): void {
      for (const coverage of covering(call)) {
        coverage.calls += 1;
        const known = coverage.not_tried.find((each) => each.reason === reason);
        if (known) known.count += 1;
        else coverage.not_tried.push({ reason, count: 1 });
      }
      if (reason !== 'facts_not_recorded') return;
      for (const rule of ofRules)
        if (rule.covers(call.operation, call.project_id)) rule.noteUnknown(call.operation, call.unknown);
    },
    result: (): SimulationReport => ({
      operations: [...operations.values()].sort((one, other) => other.calls - one.calls),
      rules: ofRules.map(({ coverage }) => coverage),
    }),
  };
}

interface ReportedRule {
  rule: PolicyRule;
  change: RuleCoverage['change'];
}

/** The rules of the candidate, and those that it deletes. */
function rulesToReport(present: readonly PolicyRule[], candidate: readonly PolicyRule[]): ReportedRule[] {
  const before = new Map(present.map((rule) => [rule.policy_id, rule]));
  const kept = new Set(candidate.map(({ policy_id }) => policy_id));
  const changeOf = (rule: PolicyRule) => {
    const known = before.get(rule.policy_id);
    if (!known) return 'added';
    return canonicalize(known) === canonicalize(rule) ? 'none' : 'changed';
  };
  return [
    ...candidate.map((rule) => ({ rule, change: changeOf(rule) }) as const),
    ...present.filter(({ policy_id }) => !kept.has(policy_id)).map((rule) => ({ rule, change: 'deleted' }) as const),
  ];
}

function reportOf(catalog: Catalog, { rule, change }: ReportedRule) {
  const { policies } = compileRules(catalog, [rule]);
  const policy = policies[rule.policy_id];
  const coverage: RuleCoverage = { policy_id: rule.policy_id, change, ...emptyCoverage(), unrecorded_facts: [] };
  return {
    coverage,
    covers: (operation: string, projectId: string): boolean =>
      policy !== undefined && mayApply(policy, operation) && (rule.projects?.includes(projectId) ?? true),
    noteUnknown(operation: string, unknown: readonly string[]): void {
      const read = attributesRead(policies, operation);
      for (const path of unknown)
        if (change !== 'deleted' && mayRead(read, path) && !coverage.unrecorded_facts.includes(path))
          coverage.unrecorded_facts.push(path);
    },
  };
}

const maxSentences = 20;

/** The result in sentences. What could not be tried is said before how many calls are decided differently. */
export function summaryOf(
  report: SimulationReport & {
    evaluated: number;
    changed_count: number;
    skipped: { reason: SkipReason; count: number }[];
  },
): string[] {
  const countOf = (reason: SkipReason) => report.skipped.find((each) => each.reason === reason)?.count ?? 0;
  const untried = countOf('facts_not_recorded') + countOf('time_limit');
  const total = report.evaluated + untried;
  const incomplete = report.operations.filter(({ calls, tried }) => tried < calls);
  const sentences = incomplete.slice(0, maxSentences).map(({ operation, calls, tried }) => {
    return `${tried} of ${quantity(calls, `${operation} call`)} could be tried.`;
  });
  if (incomplete.length > maxSentences)
    sentences.push(`Calls of ${incomplete.length - maxSentences} more operations could not be tried.`);
  return [
    `${report.evaluated} of ${quantity(total, 'recorded call')} could be tried: ${report.changed_count} would be decided differently.`,
    ...(untried > 0 ? [`How the rules decide the other ${untried} is unknown.`] : []),
    ...sentences,
    ...report.rules.flatMap(sentenceOfRule).slice(0, maxSentences),
    ...(countOf('time_limit') > 0
      ? [`${countOf('time_limit')} calls were not tried because the rules took too long.`]
      : []),
  ];
}

function sentenceOfRule({ policy_id, change, calls, tried, unrecorded_facts }: RuleCoverage): string[] {
  if (change === 'none' && unrecorded_facts.length === 0) return [];
  const reads =
    unrecorded_facts.length === 0 ? '' : ` It reads ${unrecorded_facts.join(', ')}, which they do not record.`;
  if (calls === 0) return [`The rule ${policy_id} (${change}) covers none of the recorded calls.`];
  const what = change === 'none' ? '' : ` (${change})`;
  return [
    `The rule ${policy_id}${what} covers ${quantity(calls, 'recorded call')}, of which ${tried} could be tried.${reads}`,
  ];
}

function quantity(count: number, name: string): string {
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}
