import { freeText, textFacts, type Operation } from '../../governance/operations/operation.js';

/** Preparing the storage and creating a table are one operation for rules. */
export const createRules: Operation = {
  name: 'table.create',
  effect: 'write',
  grant: 'svc:orchestrate.write',
  facts: { table_name: freeText('table_name') },
};

/** Adding and deleting a column are one operation for rules. */
export const updateRules: Operation = {
  name: 'table.update',
  effect: 'write',
  grant: 'svc:orchestrate.write',
  facts: textFacts('table_id'),
};

/** Inserting, updating and deleting records are one operation for rules. */
export const writeRowsRules: Operation = {
  name: 'table.write-rows',
  effect: 'data',
  grant: 'svc:orchestrate.write',
  facts: textFacts('table_id', 'record_id'),
};
