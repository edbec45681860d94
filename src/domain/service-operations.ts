import { freeText, text, type Operation } from '../governance/operations/operation.js';

/** Events and schedules start these operations (`permitServiceRun`). No caller performs them, so they need no grant. */
const ofServices = { effect: 'write', grant: 'any' } as const;

export const catalogSync: Operation = { ...ofServices, name: 'catalog-sync', facts: {} };
export const codeSync: Operation = { ...ofServices, name: 'code-sync', facts: { repository: freeText('repository') } };
export const connectorLoad: Operation = {
  ...ofServices,
  name: 'connector-load',
  facts: { connector_id: text('connector_id') },
};
