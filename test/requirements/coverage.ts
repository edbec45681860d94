import { fullForms, isReduced, sizeOf } from './full-forms.js';
import type { Requirement } from './requirement.js';

/** A use of a requirement in a test: a cited id (only `verified` counts), or a call that the check refuses. */
export interface Usage {
  readonly kind: 'verified' | 'skipped' | 'misplaced' | 'not-literal' | 'focused';
  /** The cited id, or the source text of the call. */
  readonly text: string;
  readonly file: string;
  readonly line: number;
}

interface Problem {
  readonly kind: 'uncovered' | 'duplicate' | 'unknown' | Exclude<Usage['kind'], 'verified'>;
  readonly text: string;
  /** `file:line`, if a test is the cause. */
  readonly at?: string;
}

const printedAtMost = 40;

const headings: Record<Problem['kind'], string> = {
  uncovered: 'without a test',
  duplicate: 'more than once in the list',
  unknown: 'cited but not in the list',
  skipped: 'cited in a test that does not have to pass (skip, todo, failing)',
  misplaced: 'cited elsewhere than in the first statements of a test callback',
  'not-literal': 'verifies() with an argument that is not a string literal',
  focused: 'focused test (only)',
};

/** All differences between the list of requirements and the tests; empty if they agree. */
export function coverage(requirements: readonly Requirement[], usages: readonly Usage[]): Problem[] {
  const ids = new Set(requirements.map(({ id }) => id));
  const verified = verifiedIds(usages);
  const fromList = requirements.flatMap(({ id }, index): Problem[] => {
    if (requirements.findIndex((other) => other.id === id) < index) return [{ kind: 'duplicate', text: id }];
    return verified.has(id) ? [] : [{ kind: 'uncovered', text: id }];
  });
  const fromTests = usages.flatMap((usage): Problem[] => {
    const { kind, text } = usage;
    if (kind !== 'verified') return [{ kind, text, at: place(usage) }];
    return ids.has(text) ? [] : [{ kind: 'unknown', text, at: place(usage) }];
  });
  return [...fromList, ...fromTests];
}

/** The number of ids, of ids with a test, and of ids that this run verifies in a reduced form. */
export function summary(requirements: readonly Requirement[], usages: readonly Usage[]): string {
  const verified = verifiedIds(usages);
  const tested = requirements.filter(({ id }) => verified.has(id));
  const reduced = tested.filter(({ fullForm }) => fullForm !== undefined && isReduced(fullForm));
  return `requirements: ${requirements.length}, with a test: ${tested.length}, in a reduced form: ${reduced.length}`;
}

/** One line for each id that this run verifies in a reduced form, with the command that runs the full form. */
export function reducedForms(
  requirements: readonly Requirement[],
  usages: readonly Usage[],
  environment?: NodeJS.ProcessEnv,
): string[] {
  return requirements.flatMap(({ id, fullForm }) => {
    if (fullForm === undefined || !isReduced(fullForm, environment)) return [];
    const files = new Set(
      usages.filter(({ kind, text }) => kind === 'verified' && text === id).map(({ file }) => file),
    );
    const command = `${fullForm}=${fullForms[fullForm].full} npm test -- ${[...files].map((file) => `test/${file}`).join(' ')}`;
    return [`reduced: ${id} (${fullForm} is ${sizeOf(fullForm, environment)}); in full: ${command}`];
  });
}

/** The problems by kind, each group with its count; about forty of them by name. */
export function report(problems: readonly Problem[]): string {
  const groups = new Map<string, Problem[]>();
  for (const problem of problems) {
    const heading = headings[problem.kind];
    groups.set(heading, [...(groups.get(heading) ?? []), problem]);
  }
  let left = printedAtMost;
  const lines = [...groups].flatMap(([heading, members]) => {
    const shown = members.slice(0, left);
    left -= shown.length;
    const hidden = members.length - shown.length;
    return [
      `${heading} (${members.length})`,
      ...shown.map(({ text, at }) => `  ${text}${at === undefined ? '' : `  ${at}`}`),
      ...(hidden > 0 ? [`  … ${hidden} more`] : []),
    ];
  });
  return lines.join('\n');
}

function verifiedIds(usages: readonly Usage[]): Set<string> {
  return new Set(usages.filter(({ kind }) => kind === 'verified').map(({ text }) => text));
}

function place({ file, line }: Usage): string {
  return `${file}:${line}`;
}
