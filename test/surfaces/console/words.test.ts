import { expect, test } from '@jest/globals';
import { auditWords, operationWords, stageWords } from '../../../console/src/words/operations.js';
import { failureWords } from '../../../console/src/words/failures.js';
import { catalog } from '../../../src/catalog.js';
import { stageDocs } from '../../../src/governance/kernel/stage-ids.js';
import { endCodes } from '../../../workflows/agentflow-execution/messages.js';
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

test('every failure of a run has its cause and what to do in words', () => {
  verifies('console.words');
  expect(Object.keys(failureWords)).toEqual(expect.arrayContaining([...endCodes, 'terminated', 'timed_out', 'lost']));
  for (const { cause, help } of Object.values(failureWords)) {
    expect(cause).toMatch(/^[A-Z][A-Za-z, ]+$/);
    expect(help).toMatch(/^[A-Z][^_{}]+\.$/);
  }
});
