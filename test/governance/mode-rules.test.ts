import { describe, expect, test } from '@jest/globals';
import { catalog } from '../../src/catalog.js';
import { builtinRulesOf } from '../../src/governance/policy/default-rules.js';
import { compileSet } from '../../src/governance/policy/evaluate.js';
import { mayRead } from '../../src/governance/policy/reads.js';
import { PolicyRule } from '../../src/governance/policy/rule.js';

const asks = (operation: string, rule: object) =>
  mayRead(
    compileSet(catalog, 1, [PolicyRule.parse({ policy_id: 'r', effect: 'forbid', ...rule })]).read(operation),
    'context.mode',
  );

describe('the mode of a project', () => {
  test('is looked up for the operations that a built-in rule forbids in governed mode', () => {
    const rule = { when: 'context.hour > 3' };
    for (const tool of builtinRulesOf(catalog)[0]?.tools ?? []) expect(asks(tool, rule)).toBe(true);
    expect(asks('query-context', rule)).toBe(false);
    expect(asks('skill.create', rule)).toBe(false);
  });

  test.each([
    'context.mode == "governed"',
    'context["mode"] == "governed"',
    String.raw`context["\u{6d}ode"] == "governed"`,
    'context has mode',
    '(if true then context else context).mode == "governed"',
    'context\n  . mode == "governed"',
  ])('is looked up for a rule with the condition %s', (when) => {
    expect(asks('query-context', { when })).toBe(true);
  });

  test('is looked up only for the operations of such a rule, by name or alias', () => {
    const rule = { tools: ['save-skill'], when: 'context.mode == "governed"' };
    expect([asks('skill.create', rule), asks('query-context', rule)]).toEqual([true, false]);
  });
});
