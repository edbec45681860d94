import { describe, expect, test } from '@jest/globals';
import { datesIn } from '../../src/graph/query/dates.js';
import { termsOf } from '../../src/graph/query/feedback.js';
import { mentionsIn, withoutCommonNames } from '../../src/graph/query/mentions.js';
import { answersFirst, createRanking, type EntityKey } from '../../src/graph/query/rank.js';
import { phrasesOf, wordsOf } from '../../src/graph/query/words.js';
import { mentionProperties } from '../../src/graph/store/mention-properties.js';

const day = (text: string) => Date.parse(text) / 1000;
const always = { since: null, until: null };
const entity = (id: string, savedAt = 0): EntityKey => {
  const key = { elementId: id, project: 'p', id, names: [], times: [], length: 0, asks: null, ...always };
  return { ...key, savedAt };
};
const unmentioned = () => ({ names: 0, time: 0 });

describe('the words of a question', () => {
  test('leave out words that only ask, and the s of a genitive', () => {
    expect(wordsOf("What is Caroline's new job in the city?")).toEqual(['caroline', 'new', 'job', 'in', 'the', 'city']);
    expect(phrasesOf('Where does Ann keep bees?')).toEqual([
      ['ann', 'keep'],
      ['keep', 'bees'],
    ]);
  });

  test.each([
    ['in March 2023', '2023-03-01', '2023-04-01'],
    ['on 8 March 2023', '2023-03-08', '2023-03-09'],
    ['on March 8th, 2023', '2023-03-08', '2023-03-09'],
    ['since 2023', '2023-01-01', '2024-01-01'],
    ['on 2023-12-31', '2023-12-31', '2024-01-01'],
    ['im März 2023', '2023-03-01', '2023-04-01'],
    ['am 8. März 2023', '2023-03-08', '2023-03-09'],
    ['im Jahr 2023', '2023-01-01', '2024-01-01'],
    ['le 8 août 2023', '2023-08-08', '2023-08-09'],
    ['en décembre 2023', '2023-12-01', '2024-01-01'],
    ['el 8 de marzo de 2023', '2023-03-08', '2023-03-09'],
    ['desde 2023', '2023-01-01', '2024-01-01'],
    ['在2023年3月', '2023-03-01', '2023-04-01'],
    ['2023年3月8日に', '2023-03-08', '2023-03-09'],
  ])('name a time: %s', (text, from, until) => {
    expect(datesIn(`What happened ${text}?`)).toEqual([{ from: day(from), until: day(until) }]);
  });

  test.each(['room 2023', 'May I come?', 'on 2023-13-40', 'on 30 February 2023', '2023-04-31', '2023年13月', ''])(
    'name no time: %j',
    (text) => {
      expect(datesIn(text)).toEqual([]);
    },
  );
});

describe('what a question mentions', () => {
  const of = mentionProperties('Turn 12', {
    speaker: "Ann O'Neil",
    time: '2023-03-08',
    note: 'x'.repeat(100),
    size: 3,
  });

  test('is the name, short values and times of an entity, never long ones', () => {
    expect(of).toEqual({ _names: ['turn 12', 'ann o neil'], _times: [day('2023-03-08')] });
  });

  test('says whether the longest text is a question', () => {
    const asks = (properties: Record<string, string>) => mentionProperties('Turn 12', properties)._asks;
    expect(asks({ text: 'Did you sell the old car? ', speaker: 'Ann' })).toBe(true);
    expect(asks({ text: '车卖了吗？' })).toBe(true);
    expect(asks({ question: 'Who sold it?', answer: 'Ann sold it in May.' })).toBeUndefined();
    expect(asks({ text: 'Did you? I did.' })).toBeUndefined();
    expect(asks({})).toBeUndefined();
  });

  test('is found as whole words', () => {
    const key = { names: of._names, times: of._times, ...always };
    expect(mentionsIn("What did Ann O'Neil say in March 2023?")(key)).toEqual({ names: 1, time: 1 });
    expect(mentionsIn("What did Joann O'Neil say in April 2023?")(key)).toEqual({ names: 0, time: 0 });
    const { names, time } = mentionsIn('What held in March 2023?')({ ...key, times: [], since: day('2023-03-20') });
    expect([names, time]).toEqual([0, 1]);
    expect(mentionsIn('anything')({ names: [], times: [], ...always })).toEqual({ names: 0, time: 0 });
  });
});

describe('the text of a question that is embedded', () => {
  const turns = (speaker: string, count: number): [string, { names: string[] }][] =>
    Array.from({ length: count }, (_, at) => [`${speaker} ${at}`, { names: [`turn ${at}`, speaker] }]);
  const found = new Map([...turns('ann o neil', 10), ...turns('open', 10), ...turns('bo', 9)]);

  test('lacks the proper names that many hits have', () => {
    expect(withoutCommonNames("When did Ann O'Neil's dog chase Bo?", found)).toBe('When did dog chase Bo?');
    expect(withoutCommonNames('Did Joann O’Neil or ANN O’NEIL call?', found)).toBe('Did Joann O’Neil or call?');
  });

  test('keeps a common value that is not a name, and a question that is only a name', () => {
    expect(withoutCommonNames('Which orders are open?', found)).toBe('Which orders are open?');
    expect(withoutCommonNames("Ann O'Neil?", found)).toBe("Ann O'Neil?");
    expect(withoutCommonNames('Who is Ann?', new Map([['ann', { names: [] }]]))).toBe('Who is Ann?');
  });
});

describe('the ranking', () => {
  test('scales text and vectors, and shares the score of the best neighbour', () => {
    const ranking = createRanking(unmentioned);
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((id) => entity(id)) as [EntityKey, EntityKey, EntityKey, EntityKey];
    ranking.textHits([
      { entity: a, score: 8 },
      { entity: b, score: 4 },
      { entity: c, score: 2 },
    ]);
    ranking.vectorHits([
      { entity: b, score: 0.9 },
      { entity: c, score: 0.7 },
    ]);
    const link = (from: string) => ({ elementId: `${from}d`, from, to: 'd' });
    ranking.neighbours(
      ['a', 'b', 'c'].map((of) => ({ of, link: link(of), entity: d })),
      0,
    );
    const parts = Object.fromEntries(ranking.all().map((each) => [each.entity.id, each.parts]));
    expect(parts.a).toMatchObject({ text: 1, vector: 0 });
    expect(parts.b).toMatchObject({ text: 0.5, vector: 0.6 });
    expect(parts.c).toMatchObject({ text: 0.25, vector: 0 });
    expect(parts.d?.neighbours).toBeCloseTo(0.55);
  });

  test('counts a mention by what was found, so a name alone does not win', () => {
    const [named, other, weak] = [entity('named'), entity('other'), entity('weak')];
    const ranking = createRanking(({ id }) => ({ names: id === 'other' ? 0 : 1, time: 0 }));
    ranking.textHits([
      { entity: other, score: 10 },
      { entity: named, score: 8 },
      { entity: weak, score: 1 },
    ]);
    expect(ranking.all().map(({ entity: { id } }) => id)).toEqual(['named', 'other', 'weak']);
    expect(ranking.all()[0]?.parts.names).toBeCloseTo(0.56);
  });

  test('prefers a longer text of two that match equally', () => {
    const ranking = createRanking(unmentioned);
    const lengths = { short: 30, long: 100, endless: 5000 };
    ranking.textHits(Object.entries(lengths).map(([id, length]) => ({ entity: { ...entity(id), length }, score: 1 })));
    const scores = Object.fromEntries(ranking.all().map((each) => [each.entity.id, each.parts.length]));
    expect(scores).toEqual({ short: 0, long: expect.closeTo(0.17, 2), endless: 0.3 });
    expect(ranking.all()[0]?.entity.id).toBe('endless');
  });

  test('puts a question behind what answers it, and explains the score that is left', () => {
    const ranking = createRanking(unmentioned);
    const asking = { ...entity('asking'), asks: true };
    ranking.textHits([
      { entity: asking, score: 10 },
      { entity: entity('answer'), score: 9 },
      { entity: entity('other'), score: 1 },
    ]);
    expect(ranking.best(1)).toEqual([asking]);
    const ranked = answersFirst(ranking.all());
    expect(ranked.map(({ entity: { id }, score }) => [id, score])).toEqual([
      ['answer', 1],
      ['asking', expect.closeTo(0.7 / 0.9, 5)],
      ['other', expect.closeTo(0.1 / 0.9, 5)],
    ]);
    expect(ranked[1]?.parts.text).toBeCloseTo(0.7);
  });

  test('prefers what was saved last if all else is equal', () => {
    const ranking = createRanking(unmentioned);
    ranking.textHits([entity('a', 1), entity('b', 2), entity('c', 1)].map((each) => ({ entity: each, score: 1 })));
    expect(ranking.all().map(({ entity: { id } }) => id)).toEqual(['b', 'a', 'c']);
  });
});

describe('the words of a second search', () => {
  test('are those that several of the best hits share and the others do not', () => {
    const best = Array.from({ length: 5 }, (_, at) => ({ text: `turn ${at} about the harbour crane`, score: 1 }));
    const rest = Array.from({ length: 40 }, (_, at) => ({ text: `turn ${at} about lunch`, score: 0.1 }));
    const words = termsOf([...best, ...rest], ['harbour']).map(({ word }) => word);
    expect(words[0]).toBe('crane');
    expect(words).not.toContain('harbour');
  });
});
