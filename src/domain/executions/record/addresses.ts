import { secretTokens } from '../../../auth/secret-token.js';
import type { Authority, Maker } from '../../../auth/authority.js';
import { defineCollection, expiring } from '../../../stores/collections.js';

/** The secrets in addresses. */
export const addressSecrets = secretTokens('wait_');

/** An address that ends the wait of one step. `_id` is the SHA-256 of its secret, which nobody can read again. */
export interface WaitAddressDocument {
  _id: string;
  project_id: string;
  organization_id: string;
  execution_id: string;
  step_id: string;
  /** The name of the event. */
  name: string;
  created_by: string;
  authority: Authority;
  /** The record is deleted then. The address ends with the wait. */
  expires_at: Date;
}

export function makerOfAddress({ created_by, organization_id, project_id, authority }: WaitAddressDocument): Maker {
  return { userId: created_by, organizationId: organization_id, projectId: project_id, authority };
}

/** What a call of an address needs. */
export const workOfAddress = { what: 'address', needs: ['svc:orchestrate.write'] } as const;

export const waitAddressesCollection = defineCollection('wait_addresses', {
  indexes: [{ keys: { execution_id: 1 } }, expiring],
  majorityRead: true,
});

declare module '../../../stores/collections.js' {
  interface Documents {
    wait_addresses: WaitAddressDocument;
  }
}
