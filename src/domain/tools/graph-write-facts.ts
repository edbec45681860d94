import { count, freeText, textsOf } from '../../governance/operations/operation.js';

/** The facts of a write to the context graph. */
export const graphWriteFacts = {
  entities: count('entities'),
  relationships: count('relationships'),
  facts: count('facts'),
  source: freeText('source'),
  entity_types: textsOf('entities', 'type'),
};
