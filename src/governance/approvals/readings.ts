import { LRUCache } from 'lru-cache';
import { actorOf, type Principal } from '../../auth/principal.js';
import type { Audit } from '../audit/audit.js';

/** The audit action of reading a whole call, with its personal data. */
export const readCallAction = 'approval.read-call';

/** The readings of the last minutes in this process. A page that refreshes does not fill the audit chain. */
export type Readings = ReturnType<typeof createReadings>;

const maxReadings = 10_000;
const foldedForMs = 10 * 60_000;

export function createReadings() {
  return new LRUCache<string, true>({ max: maxReadings, ttl: foldedForMs });
}

/** Records that a person read a whole call, before it is shown. Repeated readings within ten minutes are one entry. */
export async function auditReading(
  { audit, readings }: { audit: Pick<Audit, 'append'>; readings: Readings },
  principal: Principal,
  approvalId: string,
): Promise<void> {
  const actor = actorOf(principal);
  const key = `${actor} ${approvalId}`;
  if (readings.has(key)) return;
  await audit.append({
    organization_id: principal.organizationId,
    actor,
    action: readCallAction,
    resource: `approval:${approvalId}`,
    outcome: 'completed',
    lifecycle_id: null,
  });
  readings.set(key, true);
}
