import { expect, test } from '@jest/globals';
import { auditWords, operationWords, stageWords } from '../../../console/src/words/operations.js';
import { failureWords } from '../../../console/src/words/failures.js';
import { catalog } from '../../../src/catalog.js';
import type { OutboundCode } from '../../../src/outbound/outbound-error.js';
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

/** The codes of failed calls. The compiler refuses a list that lacks one. */
const callCodes: Record<OutboundCode, true> = {
  ...{ target_refused: true, too_large: true, timeout: true, unreachable: true, outcome_unknown: true },
  ...{ action_refused: true, action_unavailable: true, authorization_needed: true },
  ...{ tool_not_accepted: true, tool_suspended: true, model_refused: true, model_unavailable: true },
  ...{ model_answer_unusable: true, model_token_limit: true },
};

test('every failure of a run has its cause and what to do in words', () => {
  verifies('console.words');
  expect(Object.keys(failureWords)).toEqual(expect.arrayContaining([...Object.keys(callCodes), ...endCodes]));
  expect(Object.keys(failureWords)).toEqual(expect.arrayContaining(['cancelled', 'terminated', 'timed_out', 'lost']));
  for (const { cause, help } of Object.values(failureWords)) {
    expect(cause).toMatch(/^[A-Z][A-Za-z, ]+$/);
    expect(help).toMatch(/^[A-Z][^_{}]+\.$/);
  }
});
