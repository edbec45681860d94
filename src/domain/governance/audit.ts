import { z } from 'zod';
import { actorsNamed, createActorNames } from '../../governance/audit/actor-names.js';
import { AuditEntry } from '../../governance/audit/entry.js';
import { ExportLine } from '../../governance/audit/export.js';
import { Checkpoint } from '../../governance/audit/statement.js';
import { Verification } from '../../governance/audit/verify.js';
import { queryNumber } from '../../base/validation.js';
import { listOf, ListQuery } from '../../stores/lists.js';
import { defineOperation } from '../operation.js';

const text = z.string().min(1).max(1000).optional();
const time = queryNumber(z.number()).optional();

const AuditQuery = ListQuery.extend({
  actor: text.describe(
    'An `actor` from the list, the id of a person, key, client or run, or a part of the name or mail address of a person, key or app.',
  ),
  action: text.describe('An operation or tool, or its beginning, such as `policies`.'),
  exact_action: text.describe('An operation or tool. Unlike `action`, `inbox` does not find `inbox.mark-read`.'),
  resource: text.describe('A `resource` as listed, or its beginning.'),
  outcome: text.describe('An `outcome` from the list, or its beginning, such as `denied`.'),
  lifecycle_id: text,
  from: time.describe('Entries from this time on, in epoch seconds.'),
  to: time.describe('Entries before this time, in epoch seconds.'),
});

const ListedEntry = AuditEntry.extend({
  actor_name: z
    .string()
    .describe('The name of the person, key, app or service. It is not part of the entry or its hash.')
    .meta({ example: 'Grace Hopper' }),
}).meta({ id: 'ListedAuditEntry' });

/** The audit chain of the caller's organization. */
const chain = { effect: 'read', grant: 'svc:governance.read', errors: ['scope_denied'] } as const;

export const listAudit = defineOperation({
  ...chain,
  name: 'audit.list',
  input: AuditQuery,
  output: listOf(ListedEntry),
  async run({ deps, ctx, input }) {
    const { organizationId } = ctx.principal;
    const { collections } = deps.mongo;
    const { actor } = input;
    const isName = actor !== undefined && !actor.includes(':');
    const actorIds = isName ? await actorsNamed(collections, organizationId, actor) : undefined;
    const page = await deps.governance.audit.list(organizationId, { ...input, actorIds });
    const actors = [...new Set(page.data.map(({ actor }) => actor))];
    const byActor = await createActorNames(collections)(organizationId, actors);
    return {
      ...page,
      data: page.data.map((entry) => ({ ...entry, actor_name: byActor.get(entry.actor) ?? entry.actor })),
    };
  },
});

export const verifyAudit = defineOperation({
  ...chain,
  name: 'audit.verify',
  output: Verification,
  run: ({ deps, ctx }) => deps.governance.audit.verify(ctx.principal.organizationId),
});

export const listCheckpoints = defineOperation({
  ...chain,
  name: 'audit.list-checkpoints',
  input: ListQuery,
  output: listOf(Checkpoint),
  run: ({ deps, ctx, input }) => deps.governance.audit.checkpoints(ctx.principal.organizationId, input),
});

/** A stream of lines. */
export const exportAudit = defineOperation({ ...chain, name: 'audit.export', output: ExportLine });
