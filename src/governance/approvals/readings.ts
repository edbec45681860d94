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

const actions = { approval: readCallAction, memory: 'memory.read-review' } as const;

/** Records that a person read a whole call or review, before it is shown. Repeated readings within ten minutes are one entry. */
export async function auditReading(
  { audit, readings }: { audit: Pick<Audit, 'append'>; readings: Readings },
  principal: Principal,
  id: string,
  kind: keyof typeof actions = 'approval',
): Promise<void> {
  const actor = actorOf(principal);
  const resource = `${kind}:${id}`;
  const key = `${actor} ${resource}`;
  if (readings.has(key)) return;
  await audit.append({
    organization_id: principal.organizationId,
    actor,
    action: actions[kind],
    resource,
    outcome: 'completed',
    lifecycle_id: null,
  });
  readings.set(key, true);
}
