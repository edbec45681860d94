/**
 * The part of the audit log that this folder uses. The application passes it in, because `auth` must not import
 * `governance`.
 */
interface AuditPort {
  append(event: {
    organization_id: string;
    actor: string;
    action: string;
    resource: string;
    outcome: string;
    lifecycle_id: null;
  }): Promise<unknown>;
}

export interface Audited {
  governance: { audit: AuditPort };
}
