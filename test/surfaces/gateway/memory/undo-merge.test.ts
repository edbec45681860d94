import { expect, test } from '@jest/globals';
import { useDeps } from '../../../support/fixture.js';
import { verifies } from '../../../support/verifies.js';
import { facts, livesIn, remembered, said, useMemoryProduct, type Remembering } from './memory-product.js';

const product = useMemoryProduct(useDeps());
const inBerlin = 'Ada Lovelace lives in Berlin.';
const aka = { aliases: ['Lady Lovelace'] };

/** A project that knows since 2020 that Ada lives in Berlin. The model answers later texts with `answer`. */
async function knownAda(answer: (asked: string) => object): Promise<Remembering> {
  const workspace = await product.workspace((asked) =>
    asked.includes('Berlin') ? livesIn('Ada Lovelace', 'Berlin', inBerlin, aka) : answer(asked),
  );
  await remembered(workspace, { text: inBerlin, at: '2020-01-01T00:00:00Z' });
  return workspace;
}

/** Undoes the only merge of the memory. */
async function undo({ gateway }: Remembering, { merges }: any): Promise<any> {
  const { status, body } = await gateway.post('/v1/undo-merge', { merge_id: merges[0].merge_id });
  expect([status, merges.length]).toEqual([200, 1]);
  return body;
}

test('a fact that was written after the memory keeps its time, and the others get all of theirs', async () => {
  verifies('memory.undo-merge');
  const workspace = await knownAda(() => livesIn('Lady Lovelace', 'Paris', 'Lady Lovelace moved to Paris'));
  const memory = await remembered(workspace, { text: 'Lady Lovelace moved to Paris.', at: '2021-01-01T00:00:00Z' });
  const inRome = {
    predicate: 'city',
    object: 'Rome',
    valid_from: '2022-01-01T00:00:00Z',
    valid_to: '2023-01-01T00:00:00Z',
  };
  const subject = { type: 'Person', name: 'Ada Lovelace' };
  await workspace.gateway.post('/v1/save-context', { facts: [{ subject, ...inRome }] });

  expect(await undo(workspace, memory)).toMatchObject({ moved: 1, restored: 1 });
  const [paris, berlin] = ['Lady Lovelace city Paris', 'Ada Lovelace city Berlin'];
  expect(said(await facts(workspace, '2020-06-01T00:00:00Z'))).toEqual([berlin]);
  expect(said(await facts(workspace, '2021-06-01T00:00:00Z'))).toEqual([berlin, paris]);
  expect(said(await facts(workspace, '2022-06-01T00:00:00Z'))).toEqual(['Ada Lovelace city Rome', paris]);
  expect(said(await facts(workspace))).toEqual([berlin, paris]);
});

test('a fact that two parts of the memory shortened is whole again', async () => {
  verifies('memory.undo-merge');
  const quote = 'Lady Lovelace moved';
  const stay = (city: string, valid_from: string, valid_to: string) => {
    const {
      entities,
      facts: [fact],
    } = livesIn('Lady Lovelace', city, quote);
    return { entities, facts: [{ ...fact, valid_from, valid_to }] };
  };
  const workspace = await knownAda((asked) =>
    asked.includes('Paris') ? stay('Paris', '2021-01-01', '2022-01-01') : stay('Rome', '2023-01-01', '2024-01-01'),
  );
  const text = `${quote} to Paris. ${'Nothing of interest here. '.repeat(250)}${quote} to Rome.`;
  const memory = await remembered(workspace, { text, at: '2021-01-01T00:00:00Z' });
  expect(memory).toMatchObject({ parts: { written: 2 }, written: { facts: 2, closed: 2 } });

  expect(await undo(workspace, memory)).toMatchObject({ moved: 2, restored: 1 });
  const rows = await facts(workspace);
  expect(said(rows)).toEqual(['Ada Lovelace city Berlin']);
  expect(rows[0].fact).toMatchObject({ valid_from: Date.parse('2020-01-01') / 1000, valid_to: null });
  for (const [city, as_of] of [
    ['Paris', '2021-06-01T00:00:00Z'],
    ['Rome', '2023-06-01T00:00:00Z'],
  ])
    expect(said(await facts(workspace, as_of))).toEqual(['Ada Lovelace city Berlin', `Lady Lovelace city ${city}`]);
});
