import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { requireAdmin, type Principal } from '../../auth/principal.js';
import type { Audit } from '../../governance/audit/audit.js';
import { AuditEntry } from '../../governance/audit/entry.js';
import { ExportLine } from '../../governance/audit/export.js';
import { Checkpoint } from '../../governance/audit/statement.js';
import { Verification } from '../../governance/audit/verify.js';
import type { RequestContext } from '../../http/context.js';
import { defineRoute, type Route } from '../../http/define-route.js';
import { ListQuery, listOf } from '../../http/lists.js';

export interface AuditRoutesDeps {
  audit: Audit;
}

const forAdmins = 'Needs an admin role (OWNER, ORG_ADMIN or PROJECT_ADMIN): the chain is that of the whole organization.';
const common = { method: 'get', permission: 'any', tag: 'governance', description: forAdmins, errors: ['S2:resolve-scope'] } as const;

/** The audit chain of the credential's organization. */
export function auditRoutes({ audit }: AuditRoutesDeps): Route[] {
  return [
    defineRoute({
      ...common,
      path: '/v1/audit',
      summary: 'List the audit entries of the organization',
      query: ListQuery,
      response: { schema: listOf(AuditEntry), description: 'Newest first.' },
      handler: async ({ ctx, query }) => audit.list(organizationOf(ctx.principal), query),
    }),
    defineRoute({
      ...common,
      path: '/v1/audit/verify',
      summary: 'Verify the whole audit chain against its checkpoints',
      response: { schema: Verification, description: 'The verdict, with the first broken entry.' },
      handler: async ({ ctx }) => audit.verify(organizationOf(ctx.principal)),
    }),
    defineRoute({
      ...common,
      path: '/v1/audit/checkpoints',
      summary: 'List the signed checkpoints of the audit chain',
      query: ListQuery,
      response: { schema: listOf(Checkpoint), description: 'Newest first.' },
      handler: async ({ ctx, query }) => audit.checkpoints(organizationOf(ctx.principal), query),
    }),
    defineRoute({
      ...common,
      path: '/v1/audit/export',
      summary: 'Export the audit chain for an offline check',
      description: `JSON Lines that the command verify-audit checks without the service. ${forAdmins}`,
      response: { schema: ExportLine, description: 'One line of the export.', stream: 'application/x-ndjson' },
      handler: async ({ ctx }) => sendExport(audit, organizationOf(ctx.principal), ctx),
    }),
  ];
}

/** @throws AppError `S2:resolve-scope` (403) for a role that administers nothing */
function organizationOf(principal: Principal): string {
  requireAdmin(principal);
  return principal.organizationId;
}

/** An error before the first chunk is answered as usual; a later one cuts the answer, whose last line is then missing. */
async function sendExport(audit: Audit, organizationId: string, { res, log }: RequestContext): Promise<void> {
  const chunks = audit.export(organizationId);
  const first = await chunks.next();
  res.status(200).set({ 'Content-Type': 'application/x-ndjson', 'Cache-Control': 'no-store' });
  res.write(first.value);
  await pipeline(Readable.from(chunks), res).catch((error: unknown) => log.warn({ err: error }, 'an audit export was cut short'));
}
