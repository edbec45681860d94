import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { coverage, reducedForms, report, summary, type Usage } from './requirements/coverage.js';
import { fullForms } from './requirements/full-forms.js';
import type { Requirement } from './requirements/requirement.js';
import { usagesBelow, usagesIn } from './requirements/usages.js';
import { partsDone, requirements } from './requirements.js';
import { verifies } from './support/verifies.js';

const built: Requirement = { id: 'lamp.on', source: 'spec: Lamp, 1', part: 1, says: 'The switch turns the lamp on.' };
const later: Requirement = { id: 'lamp.dim', source: 'spec: Lamp, 2', part: 2, says: 'The dial dims the lamp.' };
const usage = (text: string, kind: Usage['kind'] = 'verified'): Usage => ({
  kind,
  text,
  file: 'lamp.test.ts',
  line: 3,
});
const kinds = (source: string) => usagesIn('lamp.test.ts', source).map(({ kind }) => kind);

describe('coverage', () => {
  test('accepts a tested id of a finished part and an untested id of a later one', () => {
    expect(coverage([built, later], [usage('lamp.on')], [1])).toEqual([]);
  });

  test('fails on an id without a part and without a test', () => {
    const withoutPart: Requirement = {
      id: 'lamp.on',
      source: 'https://www.rfc-editor.org/rfc/rfc9110',
      says: 'The lamp is on.',
    };
    expect(coverage([withoutPart], [], [])).toEqual([{ kind: 'uncovered', text: 'lamp.on', part: undefined }]);
  });

  test('fails on an id of a finished part without a test', () => {
    verifies('project.requirements.uncovered-fails');
    expect(coverage([built, later], [], [1])).toEqual([{ kind: 'uncovered', text: 'lamp.on', part: 1 }]);
  });

  test('fails on a pending id with a test', () => {
    verifies('project.requirements.pending-covered-fails');
    expect(coverage([built, later], [usage('lamp.on'), usage('lamp.dim')], [1])).toEqual([
      { kind: 'pending-covered', text: 'lamp.dim', part: 2, at: 'lamp.test.ts:3' },
    ]);
  });

  test('accepts and then requires the test of a later id that is delivered early', () => {
    const early: Requirement = { ...later, delivered: true };
    expect(coverage([early], [usage('lamp.dim')], [1])).toEqual([]);
    expect(coverage([early], [], [1])).toEqual([{ kind: 'uncovered', text: 'lamp.dim', part: 2 }]);
  });

  test('fails on a duplicate id in the list', () => {
    expect(coverage([built, built], [usage('lamp.on')], [1])).toEqual([
      { kind: 'duplicate', text: 'lamp.on', part: 1 },
    ]);
  });

  test('fails on a cited id that is not in the list', () => {
    expect(coverage([built], [usage('lamp.on'), usage('lamp.onn')], [1])).toEqual([
      { kind: 'unknown', text: 'lamp.onn', at: 'lamp.test.ts:3' },
    ]);
  });

  test.each(['skipped', 'misplaced', 'not-literal', 'focused'] as const)(
    'fails on a %s usage and does not count it',
    (kind) => {
      expect(coverage([built], [usage('lamp.on', kind)], [1])).toEqual([
        { kind: 'uncovered', text: 'lamp.on', part: 1 },
        { kind, text: 'lamp.on', at: 'lamp.test.ts:3' },
      ]);
    },
  );
});

describe('usagesIn', () => {
  test('finds the ids at the start of a test with their lines', () => {
    const source =
      "describe('a', () => {\n  it('b', async () => {\n    verifies('lamp.on', 'lamp.dim');\n    verifies('lamp.off');\n  });\n});";
    expect(usagesIn('lamp.test.ts', source)).toEqual([
      { kind: 'verified', text: 'lamp.on', file: 'lamp.test.ts', line: 3 },
      { kind: 'verified', text: 'lamp.dim', file: 'lamp.test.ts', line: 3 },
      { kind: 'verified', text: 'lamp.off', file: 'lamp.test.ts', line: 4 },
    ]);
  });

  test.each([
    ["test.each([1])('a', () => { verifies('x'); });"],
    ["test.each`n\n${1}`('a', () => { verifies('x'); });"],
    ["describe.each([1])('g', () => { test.concurrent('a', async function () { verifies('x'); }); });"],
  ])('counts %s', (source) => {
    expect(kinds(source)).toEqual(['verified']);
  });

  test.each([
    ["test.skip('a', () => { verifies('x'); });"],
    ["xit('a', () => { verifies('x'); });"],
    ["test.failing('a', () => { verifies('x'); });"],
    ["test.todo('a', () => { verifies('x'); });"],
    ["test.skip.each([1])('a', () => { verifies('x'); });"],
    ["describe.skip('g', () => { describe('h', () => { test('a', () => { verifies('x'); }); }); });"],
    ["xdescribe('g', () => { test('a', () => { verifies('x'); }); });"],
  ])('reports as skipped: %s', (source) => {
    expect(kinds(source)).toEqual(['skipped']);
  });

  test.each([
    ["verifies('x');"],
    ["describe('g', () => { verifies('x'); });"],
    ["beforeAll(() => { verifies('x'); });"],
    ["(fast ? test.skip : test)('a', () => { verifies('x'); });"],
    ["test('a', () => { if (fast) verifies('x'); });"],
    ["test('a', () => { if (fast) return; verifies('x'); });"],
    ["test('a', () => { const later = () => { verifies('x'); }; });"],
  ])('reports as misplaced: %s', (source) => {
    expect(kinds(source)).toEqual(['misplaced']);
  });

  test('refuses an id that it cannot read from the source', () => {
    expect(kinds("test('a', () => { verifies(id, ...ids, `${a}.b`); });")).toEqual([
      'not-literal',
      'not-literal',
      'not-literal',
    ]);
  });

  test.each([
    ["test.only('a', () => {});"],
    ["describe.only('g', () => {});"],
    ["it.only.each([1])('a', () => {});"],
    ["fit('a', () => {});"],
    ["fdescribe('g', () => {});"],
  ])('reports as focused: %s', (source) => {
    expect(kinds(source)).toEqual(['focused']);
  });

  test('ignores strings and comments', () => {
    expect(kinds("// verifies('x')\nconst text = \"test.only('a'); verifies('x')\";")).toEqual([]);
  });
});

describe('report and summary', () => {
  test('names about forty ids by part and counts the others', () => {
    const many = Array.from({ length: 60 }, (_, index): Requirement => ({ ...built, id: `lamp.${index}` }));
    const text = report(coverage([...many, later], [usage('lamp.dim')], [1]));
    expect(text).toContain('part 1: without a test (60)');
    expect(text).toContain('… 20 more');
    expect(text).toContain('part 2: of a part not done');
    expect(text.split('\n')).toHaveLength(44);
  });

  test('counts total, delivered and pending for each part', () => {
    const lines = summary([built, later], [usage('lamp.on')], [1])
      .split('\n')
      .map((line) => line.replace(/\s+/g, ' '));
    expect(lines).toEqual([
      'part 1 (done) 1 total 1 delivered 0 reduced 0 pending',
      'part 2 1 total 0 delivered 0 reduced 1 pending',
      'all 2 total 1 delivered 0 reduced 1 pending',
    ]);
  });

  test('name what a run verifies in a reduced form, with the command of the full form', () => {
    verifies('project.requirements.reduced-shown');
    const long: Requirement = { ...built, fullForm: 'DUE' };
    const reduced = (DUE?: string) => reducedForms([long, later], [usage('lamp.on'), usage('lamp.on')], { DUE });
    expect(reduced()).toEqual(['reduced: lamp.on (DUE is 20); in full: DUE=500 npm test -- test/lamp.test.ts']);
    expect(reduced('499')).toEqual([expect.stringContaining('(DUE is 499)')]);
    expect(reduced('500')).toEqual([]);
    expect(() => reduced('many')).toThrow('DUE must be a number above 0');
  });
});

describe('verifies', () => {
  test('throws for an id that is not in the list', () => {
    const cite: (id: string) => void = verifies as (id: string) => void;
    expect(() => cite('lamp.on')).toThrow('no such requirement: lamp.on');
  });
});

describe('requirements', () => {
  const root = fileURLToPath(new URL('.', import.meta.url));
  const usages = usagesBelow(root);

  test('have ids of lower-case, dotted words and one sentence each', () => {
    for (const { id, says } of requirements) {
      expect(id).toMatch(/^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/);
      expect(says).toMatch(/^[A-Za-z0-9].*[^.]\.$/);
    }
  });

  test('with a full form have a test whose size its variable sets', () => {
    for (const { id, fullForm } of requirements) {
      if (fullForm === undefined) continue;
      const files = usages.filter(({ text }) => text === id).map(({ file }) => readFileSync(join(root, file), 'utf8'));
      expect([id, files.some((source) => new RegExp(`(sizeOf|isReduced)\\('${fullForm}'\\)`).test(source))]).toEqual([
        id,
        true,
      ]);
    }
    const used = new Set(requirements.map(({ fullForm }) => fullForm));
    expect(Object.keys(fullForms).filter((variable) => !used.has(variable as keyof typeof fullForms))).toEqual([]);
  });

  test('and the tests of this project agree', () => {
    const lines = [summary(requirements, usages, partsDone), ...reducedForms(requirements, usages)];
    process.stdout.write(`${lines.join('\n')}\n`);
    const problems = coverage(requirements, usages, partsDone);
    if (problems.length > 0) throw new Error(`${problems.length} problems\n${report(problems)}`);
  });
});
