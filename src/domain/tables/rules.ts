import { freeText, textFacts, type Operation } from '../../governance/operations/operation.js';

/** Rules treat preparing the storage and creating a table as one operation. */
export const createRules: Operation = {
  name: 'table.create',
  effect: 'write',
  grant: 'svc:orchestrate.write',
  facts: { table_name: freeText('table_name') },
};

/** Rules treat adding and deleting a column as one operation. */
export const updateRules: Operation = {
  name: 'table.update',
  effect: 'write',
  grant: 'svc:orchestrate.write',
  facts: textFacts('table_id'),
};

/** Rules treat inserting, updating and deleting records as one operation. */
export const writeRowsRules: Operation = {
  name: 'table.write-rows',
  effect: 'data',
  grant: 'svc:orchestrate.write',
  facts: textFacts('table_id', 'record_id'),
};
