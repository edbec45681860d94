import { freeText, text, type Operation } from '../governance/operations/operation.js';

/** No caller performs these operations, so they need no grant: events and schedules start them (`permitServiceRun`). */
const ofServices = { effect: 'write', grant: 'any' } as const;

export const catalogSync: Operation = { ...ofServices, name: 'catalog-sync', facts: {} };
export const codeSync: Operation = { ...ofServices, name: 'code-sync', facts: { repository: freeText('repository') } };
export const connectorLoad: Operation = {
  ...ofServices,
  name: 'connector-load',
  facts: { connector_id: text('connector_id') },
};
