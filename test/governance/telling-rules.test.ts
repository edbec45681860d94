import { describe, expect, test } from '@jest/globals';
import { catalog } from '../../src/catalog.js';
import { factsOf } from '../../src/governance/operations/operation.js';
import { compileSet, createPolicyEngine, type PolicyRequest } from '../../src/governance/policy/evaluate.js';
import { problemsOf } from '../../src/governance/policy/compile.js';
import { factsToKeep, recordedRequest } from '../../src/governance/policy/recorded-call.js';
import type { LifecycleDocument } from '../../src/governance/lifecycles/record.js';
import { PolicyRule } from '../../src/governance/policy/rule.js';
import { principalOf } from '../support/governance/approvals.js';
import { verifies } from '../support/verifies.js';

const owner = principalOf();
const engine = createPolicyEngine();
const outside = '!(["nordic.example"].containsAll(context.input.recipient_domains))';
const expensive = 'context.input.currency != "EUR" || context.input.amount.greaterThan(decimal("100.00"))';

function rules(when: string, effect = 'require_approval') {
  const asks = PolicyRule.parse({ policy_id: 'asks', effect, tools: ['act.mail', 'act.http'], when });
  const others = effect === 'permit' ? [] : [PolicyRule.parse({ policy_id: 'all', effect: 'permit' })];
  expect(problemsOf(catalog, [...others, asks])).toEqual([]);
  return compileSet(catalog, 1, [...others, asks]);
}

function request(tool: string, input: Record<string, unknown>): PolicyRequest {
  const operation = catalog.named(tool);
  const resource = { type: 'act', id: 'run/step' };
  const at = new Date('2026-03-04T10:30:00Z');
  const facts = factsOf(operation, input);
  return { principal: owner, operation, resource, mode: 'simple', dryRun: false, input, facts, at };
}

describe('rules about recipients and amounts', () => {
  test.each([
    [['nordic.example'], 'permit'],
    [['nordic.example', 'elsewhere.example'], 'require_approval'],
    [['sub.nordic.example'], 'require_approval'],
    [undefined, 'require_approval'],
  ])('a mail to %j is answered with %s', (recipient_domains, decision) => {
    verifies('act.telling-facts');
    expect(engine.evaluate(rules(outside), request('act.mail', { recipient_domains })).decision).toBe(decision);
  });

  test.each([
    [{ amount: '100.0', currency: 'EUR' }, 'permit'],
    [{ amount: '100.0001', currency: 'EUR' }, 'require_approval'],
    [{ amount: '1.0', currency: 'USD' }, 'require_approval'],
    [{ amount: '1.0' }, 'require_approval'],
    [{ currency: 'EUR' }, 'require_approval'],
    [{ amount: 'much', currency: 'EUR' }, 'require_approval'],
  ])('a payment of %j is answered with %s', (input, decision) => {
    verifies('act.telling-facts');
    expect(engine.evaluate(rules(expensive), request('act.http', input)).decision).toBe(decision);
  });

  test('that cannot be evaluated do not permit, and forbid', () => {
    verifies('act.telling-facts');
    const call = request('act.http', { currency: 'EUR' });
    const cheap = 'context.input.amount.lessThan(decimal("100.00"))';
    expect(engine.evaluate(rules(cheap, 'permit'), call).policy_ids).toEqual(['builtin.platform']);
    expect(engine.evaluate(rules(cheap, 'forbid'), call).decision).toBe('forbid');
  });

  test('can be tried on recorded calls, also on calls whose facts could not be computed', () => {
    verifies('act.telling-facts');
    for (const input of [{ recipient_domains: ['elsewhere.example'], amount: '5.0', currency: 'EUR' }, {}]) {
      const call = request('act.mail', input);
      const facts = factsToKeep(call, { name: 'act.mail', isModeKnown: false });
      const lifecycle = { principal: { user_id: owner.userId, kind: owner.kind } } as LifecycleDocument;
      const { request: restored, unknown } = recordedRequest(lifecycle, facts, call.operation);
      for (const name of ['recipient_domains', 'amount', 'currency', 'hosts'])
        expect(unknown).not.toContain(`context.input.${name}`);
      const again = { ...restored, operation: call.operation, input: {} };
      for (const when of [outside, expensive])
        expect(engine.evaluate(rules(when), again).decision).toBe(engine.evaluate(rules(when), call).decision);
    }
  });
});
