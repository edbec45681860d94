import type { Requirement } from './requirement.js';

/** Search by text, vectors and neighbourhood (decision 0084). */
export const retrieval = [
  {
    id: 'retrieval.names',
    source: 'issue 17: 2',
    part: 12,
    delivered: true,
    says: 'A question that names an entity or a short value of it, such as a speaker, prefers it.',
  },
  {
    id: 'retrieval.dates',
    source: 'issue 17: 2',
    part: 12,
    delivered: true,
    says: 'A question that names a day, month or year prefers what lies in it.',
  },
  {
    id: 'retrieval.neighbours',
    source: 'issue 17: 2',
    part: 12,
    delivered: true,
    says: 'A search also finds what is next to a match; of many neighbours it takes those relevant to the question.',
  },
  {
    id: 'retrieval.explain',
    source: 'issue 17: 2',
    part: 12,
    delivered: true,
    says: 'explain returns the parts of each score, and says why vectors or the reranking endpoint were not used.',
  },
  {
    id: 'retrieval.has-more',
    source: 'issue 17: 2',
    part: 12,
    delivered: true,
    says: 'truncated says whether there is more than the answer shows.',
  },
  {
    id: 'retrieval.questions',
    source: 'issue 17: Goals',
    part: 12,
    delivered: true,
    says: 'A text that is a question comes after an equal one that is not.',
  },
  {
    id: 'retrieval.rerank',
    source: 'issue 17: 2',
    part: 12,
    delivered: true,
    says: 'An optional endpoint orders the best results; if it fails or is late, the order of the search stays, with the reason.',
  },
  {
    id: 'retrieval.rerank-hangs',
    source: 'issue 17: 2',
    part: 12,
    delivered: true,
    says: 'An endpoint that does not answer three questions in a row is left out for a while, with the reason.',
  },
  {
    id: 'retrieval.languages',
    source: 'issue 17: 2',
    part: 12,
    delivered: true,
    says: 'The language of a project is detected from its texts, and German, French, Spanish, Chinese and Japanese words are found in other forms and within longer runs.',
  },
  {
    id: 'retrieval.language-setting',
    source: 'issue 17: 2; Bad input',
    part: 12,
    delivered: true,
    says: 'A person can set the language: what is stored is indexed again without a save; a language that is not supported is refused with those that are.',
  },
  {
    id: 'retrieval.language-killed',
    source: 'issue 17: 2',
    part: 12,
    delivered: true,
    says: 'After kills while a project is indexed in another language, every element is in the new index and the old one was searched until then.',
  },
  {
    id: 'retrieval.as-of',
    source: 'issue 17: 2',
    part: 12,
    delivered: true,
    says: 'as_of returns only entities, relationships and facts that were valid then, in questions and in Cypher; a time that a question names adds what was valid then.',
  },
] as const satisfies readonly Requirement[];
