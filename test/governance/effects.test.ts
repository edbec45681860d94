import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { Grant } from '../../src/auth/grants.js';
import { catalog } from '../../src/catalog.js';
import * as files from '../../src/domain/files/operations.js';
import { deleteTag } from '../../src/domain/tags/operations.js';
import { callAs } from '../../src/governance/kernel/call-as.js';
import type { Operation } from '../../src/governance/operations/operation.js';
import { builtinRulesOf } from '../../src/governance/policy/default-rules.js';
import { platformRoutes } from '../../src/surfaces/platform/resources.js';
import { performOperation } from '../../src/governance/kernel/perform-operation.js';
import { useDeps } from '../support/fixture.js';
import { principalOf } from '../support/governance/approvals.js';
import { verifies } from '../support/verifies.js';

const deps = useDeps();

const skill = { name: 'Mail', actions: [{ name: 'Send', category: 'mail' }] };
const loader = { frequency: 'daily', path: '/rows' };
const present = { _id: 'c', category: 'restful', triggers: [{ agentflow_id: 'f' }], data_loader_config: loader };
const ofAgents = {
  'skill.create': { agents: [{ skills: [{ name: 'Mail' }] }] },
  'action.create': { agents: [{ skills: [skill] }] },
};
const ofAgent = { 'skill.create': { skills: [{ name: 'Mail' }] }, 'action.create': { skills: [skill] } };

/** An input, and the record, with which a call of the operation causes the other one. */
const samples: Record<string, Record<string, unknown>> = {
  'skill.create': { 'action.create': skill },
  'agentflow.create': ofAgents,
  'agentflow.update': ofAgents,
  'agentflow.add-agent': ofAgent,
  'agentflow.update-agent': ofAgent,
  'marketplace.hire': {
    'skill.create': { subject: { agents: [{ skills: [{ name: 'Mail' }] }] } },
    'action.create': { subject: { agents: [{ skills: [skill] }] } },
  },
  'schedule.create': { 'execution.start': { coworker_id: 'f' } },
  'schedule.update': { 'execution.start': { goal: 'other', subject: 'f' } },
  'schedule.trigger': { 'execution.start': { subject: 'f' } },
  'schedule.backfill': { 'execution.start': { subject: 'f' } },
  'settings.update': { 'execution.delete': { execution_retention: { completed_days: 30 } } },
  'connector.create': {
    'execution.start': { triggers: [{ agentflow_id: 'f' }] },
    'connector-load': { config: {}, data_loader_config: loader },
  },
  'connector.update': {
    'connector.create': { config: { base_url: 'https://other.example' }, subject: present },
    'execution.start': { status: 'active', subject: present },
    'connector-load': { status: 'active', subject: present },
  },
  'file.delete': { 'knowledge.delete': { file_id: 'f', subject: true } },
  'knowledge.upload': { remember: { extract: 'true' } },
  'sync.start': { 'catalog-sync': {} },
  'execution.start': { 'execution.start': { agentflow_id: 'f', execute: 'true', subject: {} } },
  'member.invite': { 'member.add': { email: 'ann@example.com', role: 'MEMBER' } },
};

const operations: Operation[] = [
  ...new Set([...catalog.operations, ...platformRoutes.flatMap(({ operation }) => operation ?? [])]),
].filter(({ causes }) => causes !== undefined);
/** A cause that a call of this operation cannot have, because nothing exists yet that it could change. */
const isImpossible = (name: string, caused: string) => name === 'connector.create' && caused === 'connector.create';
const pairs = operations.flatMap((operation) =>
  (operation.causes ?? [])
    .filter((cause) => !isImpossible(operation.name, cause.operation.name))
    .map((cause) => [operation.name, cause.operation.name, operation] as const),
);

async function perform(
  operation: Operation,
  sample: Record<string, unknown>,
  grants: readonly Grant[],
): Promise<string> {
  const { subject, ...input } = sample;
  const principal = principalOf('OWNER', { grants });
  const performed = await deps.kernel.perform(
    callAs(async () => principal, {
      ...{ operation, entrance: 'route' },
      validate: async () => ({
        ...{ input, resource: { type: 'test', id: '*' }, dryRun: false, subject: async () => subject },
        run: async () => ({ body: { ran: true } }),
      }),
    }),
  );
  if ('ending' in performed) return 'ran';
  return (performed.error as { code?: string }).code ?? 'failed';
}

describe('a call that causes another operation', () => {
  test.each(pairs)('%s needs the grants of %s, whichever others the caller has', async (name, caused, operation) => {
    verifies('operation.caused-grants');
    const sample = samples[name]?.[caused] as Record<string, unknown> | undefined;
    if (!sample) throw new Error(`add an input with which ${name} causes ${caused}`);
    const { subject, ...input } = sample;
    const causes = (operation.causes ?? []).filter(({ calls }) => calls(input, subject).length > 0);
    expect(causes.map((cause) => cause.operation.name)).toContain(caused);
    const needed = new Set(
      [operation, ...causes.map((cause) => cause.operation)]
        .map(({ grant }) => grant)
        .filter((grant) => grant !== 'any'),
    );
    for (const grant of Grant.options)
      expect([grant, await perform(operation, sample, [grant])]).toEqual([
        grant,
        [...needed].every((each) => each === grant) ? 'ran' : 'scope_denied',
      ]);
    for (const missing of needed)
      expect(
        await perform(
          operation,
          sample,
          Grant.options.filter((grant) => grant !== missing),
        ),
      ).toBe('scope_denied');
    expect(await perform(operation, sample, [...needed] as Grant[])).toBe('ran');
  });

  test('needs only its own grant if its input causes nothing', async () => {
    verifies('operation.caused-grants');
    const named = (name: string) => operations.find((operation) => operation.name === name) as Operation;
    const own = ['svc:orchestrate.write'] as const;
    expect(await perform(named('agentflow.update'), { name: 'other', agents: [{ title: 'A' }] }, own)).toBe('ran');
    expect(await perform(named('schedule.update'), { status: 'paused', reason: 'x', subject: 'f' }, own)).toBe('ran');
    expect(await perform(named('connector.update'), { name: 'other', subject: present }, own)).toBe('ran');
    expect(await perform(named('knowledge.upload'), { extract: 'false' }, own)).toBe('ran');
  });
});

describe('a body that names another record than the path', () => {
  test('does not change what rules see', async () => {
    verifies('operation.key-over-body');
    const seen: unknown[] = [];
    const read = ({ id }: Readonly<Record<string, unknown>>) => {
      seen.push(id);
      return String(id);
    };
    const principal = principalOf('OWNER', { grants: ['svc:orchestrate.write'] });
    const outcome = await performOperation({
      operation: { ...deleteTag, facts: { id: { type: 'String', read } } },
      ...{ deps, entrance: 'route', baseUrl: '', traceId: '0af7651916cd43dd8448eb211c80319c' },
      signal: new AbortController().signal,
      authenticate: async () => principal,
      key: () => ({ id: 'of-path' }),
      read: async () => ({ id: 'of-body' }),
      run: async () => ({}),
    });
    expect(outcome).toMatchObject({ held: false });
    expect(new Set(seen)).toEqual(new Set(['of-path']));
  });
});

describe('governed mode', () => {
  test('covers every operation of clients that declares a change of the context graph', () => {
    verifies('operation.governed-mode');
    const rules = builtinRulesOf(catalog).filter(({ policy_id }) => policy_id.startsWith('builtin.governed-mode'));
    const covered = rules.flatMap(({ tools = [] }) => tools);
    const declared = catalog.operations.filter(({ changesContext, ofServices }) => changesContext && !ofServices);
    expect(covered.sort()).toEqual(declared.map(({ name }) => name).sort());
    expect(covered).toEqual(
      expect.arrayContaining(['save-context', 'remember', 'catalog-ingest', 'knowledge.upload', 'knowledge.delete']),
    );
    // Every tool that may write with the grant for the graph either changes its content or only settings of the project.
    const withGrant = catalog.operations.filter(
      ({ grant, effect }) => grant === 'svc:ontology.write' && effect === 'write',
    );
    expect(withGrant.filter(({ changesContext }) => !changesContext).map(({ name }) => name)).toEqual(['project-mode']);
  });

  test('forbids the deletion of a document, which is always recorded', () => {
    verifies('operation.governed-mode');
    const [cause] = files.deleteFile.causes ?? [];
    expect(cause?.operation).toMatchObject({ name: 'knowledge.delete', effect: 'write', changesContext: true });
  });
});

/** The product's sources, by path. */
const sources = ['src', 'activities']
  .flatMap((folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`))
  .filter((path) => path.endsWith('.ts'))
  .map((path) => [path, readFileSync(path, 'utf8')] as const);

/** The files that call the function. */
function callersOf(name: string): string[] {
  const call = new RegExp(`(?<!function |[.])\\b${name}(<[^>]*>)?\\(`);
  return sources
    .filter(([, text]) => call.test(text))
    .map(([path]) => path)
    .sort();
}

describe('work in the background', () => {
  // A principal with grants of its own needs a reason here. All other work acts with the authority of its maker.
  const withOwnGrants = {
    memberOf: [
      'src/domain/files/operations/keep-for-run.ts', // what the tools of a run return
      'src/domain/projects/remove-contents.ts', // the cancellation that the deletion of the project caused
      'src/governance/service-record.ts', // configured sources
      'src/surfaces/callbacks/receivers/catalog-ingest.ts', // the deployment's own key
    ],
    principalOfRun: ['src/domain/actions/operations/calls-of-runs.ts', 'src/domain/tools/query-as-execution.ts'],
  };

  test.each(Object.entries(withOwnGrants))('has constant grants by %s only where it is listed', (name, allowed) => {
    verifies('operation.caused-authority');
    expect(callersOf(name)).toEqual(allowed);
  });

  // Each function has the effect of an operation. Whoever calls it performs that operation or declares it as a cause.
  test.each([
    ['startMemory', ['src/domain/memories/operations/remember-as-maker.ts', 'src/domain/tools/remember.ts']],
    ['createExecution', ['src/domain/executions/operations.ts', 'src/domain/executions/start-coworker.ts']],
    ['createConnector', ['src/domain/connectors/operations.ts', 'src/domain/tables/operations.ts']],
    ['saveSkill', ['src/domain/skills/operations.ts', 'src/domain/tools/save-skill.ts']],
    ['savePart', ['src/domain/tools/save-part-as-person.ts']],
  ])('%s is called only by the operation with this effect', (name, allowed) => {
    verifies('operation.caused-authority');
    expect(callersOf(name).filter((path) => !allowed.includes(path))).toEqual([]);
  });
});
