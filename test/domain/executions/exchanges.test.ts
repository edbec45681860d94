import { expect, test } from '@jest/globals';
import { createExchanges, readExchanges } from '../../../src/domain/executions/exchanges.js';
import { newId } from '../../../src/base/ids.js';
import { useDeps } from '../../support/fixture.js';

const deps = useDeps();
const secrets = deps.auth.box;

test('writes the exchanges of all steps with one command, each with its newest parts', async () => {
  const { collections } = deps.mongo;
  let commands = 0;
  const bulkWrite = (...args: Parameters<typeof collections.execution_exchanges.bulkWrite>) => {
    commands += 1;
    return collections.execution_exchanges.bulkWrite(...args);
  };
  const exchanges = createExchanges({ collections: { execution_exchanges: { bulkWrite } as never }, secrets });
  const run = newId();
  for (const step of ['a', 'b', 'c']) {
    const { note, end } = exchanges.begin(`${run}/${step}`, 1);
    note({ input: { step } });
    note({ output: `of ${step}` });
    end();
  }
  exchanges.begin(`${run}/without-parts`, 1).end();
  await exchanges.flush();
  expect(commands).toBe(1);
  const read = (step: string) => readExchanges({ collections, secrets }, run, step);
  for (const step of ['a', 'b', 'c'])
    expect(await read(step)).toMatchObject([{ attempt: 1, input: { step }, output: `of ${step}` }]);
  expect(await read('without-parts')).toEqual([]);
});

test('does not collect exchanges without limit while the store does not answer, and continues afterwards', async () => {
  const written: number[] = [];
  let answer: () => void = () => undefined;
  const bulkWrite = async (writes: unknown[]) => {
    await new Promise<void>((resolve) => (answer = resolve));
    written.push(writes.length);
    throw new Error('the store lost its primary');
  };
  const exchanges = createExchanges({ collections: { execution_exchanges: { bulkWrite } as never }, secrets });
  const add = (step: number) => exchanges.begin(`run/${step}`, 1).note({ output: step });
  add(0);
  await exchanges.flush();
  for (let step = 1; step <= 3000; step += 1) add(step);
  const flushed = exchanges.flush();
  while (written.reduce((sum, count) => sum + count, 0) < 1001) {
    answer();
    await new Promise(setImmediate);
  }
  await flushed;
  expect(written).toEqual([1, ...Array.from({ length: 10 }, () => 100)]);
});
