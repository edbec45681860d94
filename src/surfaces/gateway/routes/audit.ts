import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { exportAudit, listAudit, listCheckpoints, verifyAudit } from '../../../domain/governance/audit.js';
import type { Audit } from '../../../governance/audit/audit.js';
import type { RequestContext } from '../../rest/context.js';
import { routesOf, type Route } from '../../rest/define-route.js';

const forAdmins =
  'For a person with a role other than MEMBER, or a key with `svc:governance.read`: the chain covers the whole organization.';
const route = routesOf('governance');

/** The audit chain of the credential's organization. */
export const auditRoutes: readonly Route[] = [
  route('GET /v1/audit', listAudit, {
    summary: 'List the audit entries of the organization',
    description: forAdmins,
    response: { description: 'Newest first. With a filter, `total_count` counts up to 10,000.' },
  }),
  route('GET /v1/audit/verify', verifyAudit, {
    summary: 'Verify the whole audit chain against its checkpoints',
    description: forAdmins,
    response: { description: 'The result, with the first broken entry.' },
  }),
  route('GET /v1/audit/checkpoints', listCheckpoints, {
    summary: 'List the signed checkpoints of the audit chain',
    description: forAdmins,
    response: { description: 'Newest first.' },
  }),
  route('GET /v1/audit/export', exportAudit, {
    summary: 'Export the audit chain for an offline check',
    description: `JSON Lines that the command verify-audit can check offline. ${forAdmins}`,
    response: { description: 'One line of the export.', stream: 'application/x-ndjson' },
    handler: ({ deps, ctx }) => sendExport(deps.governance.audit, ctx.principal.organizationId, ctx),
  }),
];

/**
 * Sends an export. An error before the first chunk gets the usual response. A later error truncates the response, so
 * that its last line is missing.
 */
async function sendExport(audit: Audit, organizationId: string, { req, res }: RequestContext): Promise<void> {
  const chunks = audit.export(organizationId);
  const first = await chunks.next();
  res.status(200).set({ 'Content-Type': 'application/x-ndjson', 'Cache-Control': 'no-store' });
  res.write(first.value);
  await pipeline(Readable.from(chunks), res).catch((error: unknown) =>
    req.log.warn({ err: error, req }, 'an audit export was cut short'),
  );
}
