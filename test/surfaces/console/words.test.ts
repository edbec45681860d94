import { expect, test } from '@jest/globals';
import { auditWords, operationWords, stageWords } from '../../../console/src/words/operations.js';
import { catalog } from '../../../src/catalog.js';
import { stageDocs } from '../../../src/governance/kernel/stage-ids.js';
import { verifies } from '../../support/verifies.js';

test('every operation, alias and stage has words, which are no names of code', () => {
  verifies('console.words');
  expect(Object.keys(operationWords).sort()).toEqual([...catalog.names, 'execution.preview'].sort());
  expect(Object.keys(stageWords)).toEqual(stageDocs.map(({ stage }) => stage));
  const all = [operationWords, auditWords, stageWords].flatMap((words) => Object.values(words));
  for (const text of all) expect(text).toMatch(/^[A-Z][A-Za-z, ]+$/);
  // A filter offers the words of operations: two with the same words could not be told apart.
  const words = Object.values(operationWords);
  expect(words.filter((text, at) => words.indexOf(text) !== at)).toEqual([]);
});
