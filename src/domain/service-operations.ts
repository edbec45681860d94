import { freeText, text, type Operation } from '../governance/operations/operation.js';

/** Events and schedules start these operations (`permitServiceRun`), as the source that somebody with the grant configured. */
const ofServices = { effect: 'write', changesContext: true, ofServices: true } as const;

export const catalogSync: Operation = { ...ofServices, name: 'catalog-sync', grant: 'svc:ontology.write', facts: {} };
export const codeSync: Operation = {
  ...ofServices,
  name: 'code-sync',
  grant: 'svc:codesync.write',
  facts: { repository: freeText('repository') },
};
export const connectorLoad: Operation = {
  ...ofServices,
  name: 'connector-load',
  grant: 'svc:ontology.write',
  facts: { connector_id: text('connector_id') },
};
