import type { Requirement } from './requirement.js';

/** Search by text, vectors and neighbourhood (decision 0028). */
export const retrieval = [
  {
    id: 'retrieval.names',
    source: 'docs/guides/gateway.md',
    says: 'A question that names an entity or a short value of it, such as a speaker, prefers it.',
  },
  {
    id: 'graph.search.exact-names',
    source: 'docs/decisions/0026-words-of-full-text.md',
    says: 'A question that contains the whole name of an entity finds it first, whatever its signs, accents, case and script.',
  },
  {
    id: 'gateway.query.wrapped-cypher',
    source: 'docs/guides/gateway.md',
    says: 'A query in a code fence, after a label, a sentence or reasoning, or before an explanation runs, or is refused with its reason.',
  },
  {
    id: 'gateway.query.exact-numbers',
    source: 'docs/guides/gateway.md',
    says: 'A number in a row that JavaScript cannot express is a text with the same digits, or NaN or Infinity.',
  },
  {
    id: 'retrieval.dates',
    source: 'docs/guides/gateway.md',
    says: 'A question that names a day, month or year prefers what lies in it.',
  },
  {
    id: 'retrieval.neighbours',
    source: 'docs/guides/gateway.md',
    says: 'A search also finds what is next to a match; of many neighbours it takes those relevant to the question.',
  },
  {
    id: 'retrieval.relationships',
    source: 'docs/guides/gateway.md',
    says: 'A question finds the two entities of a relationship by the meaning of its text.',
  },
  {
    id: 'retrieval.explain',
    source: 'docs/guides/gateway.md',
    says: 'explain returns the parts of each score, and says why vectors or the reranking endpoint were not used.',
  },
  {
    id: 'retrieval.has-more',
    source: 'docs/guides/gateway.md',
    says: 'truncated says whether there is more than the answer shows.',
  },
  {
    id: 'retrieval.questions',
    source: 'docs/guides/gateway.md',
    says: 'A text that is a question comes after an equal one that is not.',
  },
  {
    id: 'retrieval.common-names',
    source: 'docs/guides/gateway.md',
    says: 'A question is embedded without the proper names that many of its hits have.',
  },
  {
    id: 'retrieval.rerank',
    source: 'docs/guides/gateway.md',
    says: 'The relevance that an optional endpoint returns counts in the order of the best results; if it fails or is late, the order of the search stays, with the reason.',
  },
  {
    id: 'retrieval.rerank-hangs',
    source: 'docs/guides/gateway.md',
    says: 'An endpoint that does not answer three consecutive questions is not used for a while; answers state the reason.',
  },
  {
    id: 'retrieval.languages',
    source: 'docs/guides/gateway.md',
    says: 'The language of a project is detected from its texts, and German, French, Spanish, Chinese and Japanese words are found in other forms and within longer runs.',
  },
  {
    id: 'retrieval.language-setting',
    source: 'docs/guides/gateway.md',
    says: 'A person can set the language: what is stored is indexed again without a save; a language that is not supported is refused with those that are.',
  },
  {
    id: 'retrieval.language-killed',
    source: 'docs/guides/gateway.md',
    says: 'After kills while a project is indexed in another language, every element is in the new index and the old one was searched until then.',
  },
  {
    id: 'retrieval.as-of',
    source: 'docs/guides/gateway.md',
    says: 'as_of returns only entities, relationships and facts that were valid then, in questions and in Cypher; a time that a question names adds what was valid then.',
  },
] as const satisfies readonly Requirement[];
