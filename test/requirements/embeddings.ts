import type { Requirement } from './requirement.js';

/** Embeddings of what is saved (decision 0027). */
export const embeddings = [
  {
    id: 'embeddings.after-the-write',
    source: 'docs/guides/gateway.md',
    says: 'Entities, facts and relationships with text are embedded after the write; a save calls no endpoint, and without an endpoint it leaves no notes.',
  },
  {
    id: 'embeddings.by-content',
    source: 'docs/guides/gateway.md',
    says: 'A text that has its vector already costs no call; a changed text is embedded again.',
  },
  {
    id: 'embeddings.slow-endpoint',
    source: 'docs/guides/gateway.md',
    says: 'After an endpoint was too slow, requests contain fewer texts, so that a small local model can keep up.',
  },
  {
    id: 'embeddings.by-meaning',
    source: 'docs/guides/gateway.md',
    says: 'With a real model, a search finds what shares no word with the question.',
  },
  {
    id: 'embeddings.deleted-with-element',
    source: 'docs/guides/gateway.md',
    says: 'The vectors of an element are deleted with it, and searches do not find those of a superseded fact.',
  },
  {
    id: 'embeddings.project-deleted',
    source: 'docs/guides/gateway.md',
    says: 'Deleting a project deletes its context graph, vectors, personal values and remembered texts in the background, and nothing of another project.',
  },
  {
    id: 'embeddings.sealed',
    source: 'docs/guides/gateway.md',
    says: 'Sealed personal properties are not sent to the endpoint, and sealing a property deletes the vectors that had it.',
  },
  {
    id: 'embeddings.generations',
    source: 'docs/guides/gateway.md',
    says: 'Another model or dimension makes a new generation; searches use the old one until the new one is complete, then the old one is removed.',
  },
  {
    id: 'embeddings.tenancy',
    source: 'docs/guides/gateway.md',
    says: 'A search by vectors returns only elements of its project, also when most vectors belong to another project, and finds what brute force finds.',
  },
  {
    id: 'embeddings.share',
    source: 'docs/guides/gateway.md',
    says: 'A project with 1 % of all vectors gets the nearest of its own within 2 points of brute force, also through the index of all projects, and finds by text what it finds alone.',
    fullForm: 'SHARE_NODES',
  },
  {
    id: 'embeddings.failures',
    source: 'docs/guides/gateway.md',
    says: 'An endpoint that is down, limits requests or returns another dimension is reported, loses nothing, and leaves searches to text.',
  },
  {
    id: 'embeddings.charged',
    source: 'docs/guides/gateway.md',
    says: 'The tokens of embeddings are in the credit ledger, once for each slice of work.',
  },
  {
    id: 'embeddings.killed',
    source: 'docs/guides/gateway.md',
    says: 'After 100 kills during embedding, every element has exactly one vector of its present text.',
    fullForm: 'EMBEDDING_KILLS',
  },
  {
    id: 'embeddings.docs',
    source: 'docs/guides/gateway.md',
    says: 'POST /v1/docs with topic retrieval reports generation, coverage, lag and the last error.',
  },
] as const satisfies readonly Requirement[];
