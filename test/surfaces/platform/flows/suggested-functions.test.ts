import { expect, test } from '@jest/globals';
import { functionsOfValues, otherFunctions } from '../../../../console/src/agentflows/expression-functions.js';
import { createWorkspace, useDeps } from '../../../support/fixture.js';
import { verifies } from '../../../support/verifies.js';

const deps = useDeps();

/** An expression with each function that the editor completes, by what the editor inserts. */
const ofValues: Readonly<Record<string, string>> = {
  'all(': '[1].all(each, each > 0)',
  'contains(': '"abc".contains("b")',
  'distinct()': '[1].distinct()',
  'endsWith(': '"abc".endsWith("c")',
  'exists(': '[1].exists(each, each > 0)',
  'filter(': '[1].filter(each, each > 0)',
  'flatten()': '[[1]].flatten()',
  'getDate(': 'timestamp(0).getDate("Europe/Zurich")',
  'getDayOfWeek(': 'timestamp(0).getDayOfWeek("Europe/Zurich")',
  'getFullYear(': 'timestamp(0).getFullYear("Europe/Zurich")',
  'getHours(': 'timestamp(0).getHours("Europe/Zurich")',
  'getMonth(': 'timestamp(0).getMonth("Europe/Zurich")',
  'indexOf(': '"abc".indexOf("b")',
  'join(': '["a"].join(",")',
  'lowerAscii()': '"A".lowerAscii()',
  'map(': '[1].map(each, each)',
  'max()': '[1].max()',
  'min()': '[1].min()',
  'replace(': '"abc".replace("b", "d")',
  'reverse()': '[1].reverse()',
  'size()': '[1].size()',
  'slice(': '[1].slice(0, 1)',
  'sort()': '[1].sort()',
  'split(': '"a,b".split(",")',
  'startsWith(': '"abc".startsWith("a")',
  'substring(': '"abc".substring(1)',
  'sum()': '[1].sum()',
  'trim()': '" a ".trim()',
  'upperAscii()': '"a".upperAscii()',
};
const others: Readonly<Record<string, string>> = {
  'duration(': 'duration("1h")',
  'has(': 'has(inputs.a)',
  'int(': 'int("1")',
  'math.abs(': 'math.abs(1)',
  'math.ceil(': 'math.ceil(1.5)',
  'math.floor(': 'math.floor(1.5)',
  'math.greatest(': 'math.greatest(1, 2)',
  'math.least(': 'math.least(1, 2)',
  'math.round(': 'math.round(1.5)',
  'size(': 'size("abc")',
  'string(': 'string(1)',
  'timestamp(': 'timestamp(0)',
};

test('an agentflow can use every function that the editor of the console completes', async () => {
  verifies('flow.expressions.functions');
  expect(functionsOfValues).toEqual(Object.keys(ofValues));
  expect(otherFunctions).toEqual(Object.keys(others));
  const expressions = Object.values({ ...ofValues, ...others });
  const values = Object.fromEntries(expressions.map((expression, at) => [`value${at}`, expression]));
  const { api } = await createWorkspace(deps);
  const agentflow = { name: 'All', initialAgent: 'all', steps: [{ _id: 'all', type: 'set', values }] };
  expect(await api.post('/agentflow', agentflow)).toMatchObject({ status: 201 });
});
