import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { coverage, reducedForms, report, summary, type Usage } from './requirements/coverage.js';
import { fullForms } from './requirements/full-forms.js';
import type { Requirement } from './requirements/requirement.js';
import { usagesBelow, usagesIn } from './requirements/usages.js';
import { requirements } from './requirements.js';
import { verifies } from './support/verifies.js';

const source = 'docs/specification.md#conventions';
const on: Requirement = { id: 'lamp.on', source, says: 'The switch turns the lamp on.' };
const dim: Requirement = { id: 'lamp.dim', source, says: 'The dial dims the lamp.' };
const usage = (text: string, kind: Usage['kind'] = 'verified'): Usage => ({
  kind,
  text,
  file: 'lamp.test.ts',
  line: 3,
});
const kinds = (source: string) => usagesIn('lamp.test.ts', source).map(({ kind }) => kind);

describe('coverage', () => {
  test('accepts ids that all have a test', () => {
    expect(coverage([on, dim], [usage('lamp.on'), usage('lamp.dim')])).toEqual([]);
  });

  test('fails on an id without a test', () => {
    verifies('project.requirements.uncovered-fails');
    expect(coverage([on, dim], [usage('lamp.on')])).toEqual([{ kind: 'uncovered', text: 'lamp.dim' }]);
  });

  test('fails on a duplicate id in the list', () => {
    expect(coverage([on, on], [usage('lamp.on')])).toEqual([{ kind: 'duplicate', text: 'lamp.on' }]);
  });

  test('fails on a cited id that is not in the list', () => {
    expect(coverage([on], [usage('lamp.on'), usage('lamp.onn')])).toEqual([
      { kind: 'unknown', text: 'lamp.onn', at: 'lamp.test.ts:3' },
    ]);
  });

  test.each(['skipped', 'misplaced', 'not-literal', 'focused'] as const)(
    'fails on a %s usage and does not count it',
    (kind) => {
      expect(coverage([on], [usage('lamp.on', kind)])).toEqual([
        { kind: 'uncovered', text: 'lamp.on' },
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
  test('names about forty ids of a kind and counts the others', () => {
    const many = Array.from({ length: 60 }, (_, index): Requirement => ({ ...on, id: `lamp.${index}` }));
    const text = report(coverage(many, [usage('lamp.onn')]));
    expect(text).toContain('without a test (60)');
    expect(text).toContain('… 20 more');
    expect(text).toContain('cited but not in the list (1)');
    expect(text.split('\n')).toHaveLength(44);
  });

  test('counts the ids, and those with a test', () => {
    expect(summary([on, dim], [usage('lamp.on')])).toBe('requirements: 2, with a test: 1, in a reduced form: 0');
  });

  test('name what a run verifies in a reduced form, with the command of the full form', () => {
    verifies('project.requirements.reduced-shown');
    const long: Requirement = { ...on, fullForm: 'DUE' };
    const reduced = (DUE?: string) => reducedForms([long, dim], [usage('lamp.on'), usage('lamp.on')], { DUE });
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

  test('cite public pages, or sections of documents that exist', () => {
    const cited = new Set(
      requirements.map((requirement) => requirement.source).filter((each) => each.startsWith('docs/')),
    );
    for (const each of cited) {
      const [file = '', section] = each.split('#');
      const text = readFileSync(join(root, '..', file), 'utf8');
      const sections = [...text.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
        title.toLowerCase().replace(/[^\w]+/g, '-'),
      );
      expect([each, section === undefined || sections.includes(section)]).toEqual([each, true]);
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
    const lines = [summary(requirements, usages), ...reducedForms(requirements, usages)];
    process.stdout.write(`${lines.join('\n')}\n`);
    const problems = coverage(requirements, usages);
    if (problems.length > 0) throw new Error(`${problems.length} problems\n${report(problems)}`);
  });
});
