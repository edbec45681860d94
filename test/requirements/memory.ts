import type { Requirement } from './requirement.js';

/** Governed extraction. */
export const memory = [
  {
    id: 'memory.remember',
    source: 'docs/guides/remember.md',
    says: 'Remembering a text is answered with 202 and writes its facts in the background, with source and time.',
  },
  {
    id: 'memory.span',
    source: 'docs/guides/remember.md',
    says: 'A fact names the characters of the text that say it.',
  },
  {
    id: 'memory.schema',
    source: 'docs/guides/remember.md',
    says: 'Model turns are bound to the ontology of the project as JSON Schema.',
  },
  {
    id: 'memory.hallucinated',
    source: 'docs/guides/remember.md',
    says: 'What has no span in the text is dropped and counted.',
  },
  {
    id: 'memory.contradiction',
    source: 'docs/guides/remember.md',
    says: 'A contradicted fact is closed at the time of the text.',
  },
  {
    id: 'memory.ends',
    source: 'docs/decisions/0025-the-context-graph.md',
    says: 'A text that says that something ended ends the known fact and its relationship, and the memory counts it.',
  },
  {
    id: 'memory.edges',
    source: 'docs/decisions/0025-the-context-graph.md',
    says: 'A relationship that a text states is a relationship of the graph as well as a fact, also after a merge is undone.',
  },
  {
    id: 'memory.lists',
    source: 'docs/decisions/0025-the-context-graph.md',
    says: 'The items of a list that a text states for one time are all kept.',
  },
  {
    id: 'memory.quotes',
    source: 'docs/guides/remember.md',
    says: 'A quote is found if it differs from the text in case, Unicode form, quotation marks, dashes, line breaks or Markdown.',
  },
  {
    id: 'memory.times',
    source: 'docs/guides/remember.md',
    says: 'A time of the model is read as ISO 8601 means it, or the item is dropped and counted.',
  },
  {
    id: 'memory.names',
    source: 'docs/decisions/0025-the-context-graph.md',
    says: 'A mention finds an imported entity whose name differs in case or spacing; if several have its name, it is dropped and counted.',
  },
  {
    id: 'memory.conversation',
    source: 'docs/guides/remember.md',
    says: 'A conversation is remembered by turn, with speakers and times.',
  },
  {
    id: 'memory.merge',
    source: 'docs/guides/remember.md',
    says: 'A mention with the name or an alias of a known entity of its type refers to that entity, and the merge is recorded.',
  },
  {
    id: 'memory.undo-merge',
    source: 'docs/guides/remember.md',
    says: 'A merge can be undone: its facts move to an entity of their own, and what they closed is restored.',
  },
  {
    id: 'memory.status',
    source: 'docs/guides/remember.md',
    says: 'A memory reports status, counts, retries and cost.',
  },
  { id: 'memory.budget', source: 'docs/guides/remember.md', says: 'A memory stops at its budget and writes nothing.' },
  {
    id: 'memory.review',
    source: 'docs/guides/remember.md',
    says: 'A review in the inbox decides whether anything is written.',
  },
  {
    id: 'memory.review.everything',
    source: 'docs/guides/remember.md',
    says: 'A review shows everything that approving writes: all facts by page, all properties and names, merges, and the facts that end.',
  },
  {
    id: 'memory.review.quote',
    source: 'docs/guides/remember.md',
    says: 'A review names the values that the quoted words do not contain.',
  },
  {
    id: 'memory.review.digest',
    source: 'docs/guides/remember.md',
    says: 'An approval of something else than what was read is answered 409; programs must send the digest.',
  },
  {
    id: 'memory.review.redacted',
    source: 'docs/decisions/0021-what-approvers-see.md',
    says: 'People who may decide read a review whole, which is audited; programs read it redacted.',
  },
  {
    id: 'memory.cancel',
    source: 'docs/guides/remember.md',
    says: 'A memory can be cancelled before anything is written.',
  },
  {
    id: 'memory.idempotent',
    source: 'docs/guides/remember.md',
    says: 'A repeated Idempotency-Key returns the same memory.',
  },
  {
    id: 'memory.killed',
    source: 'docs/guides/remember.md',
    says: 'A worker that is killed during an extraction writes nothing twice and leaves nothing half-written.',
  },
  {
    id: 'memory.unstarted',
    source: 'docs/guides/remember.md',
    says: 'A memory whose API process is killed between its record and the start of its workflow is started by a worker.',
  },
  {
    id: 'memory.tenancy',
    source: 'docs/guides/remember.md',
    says: 'A memory cannot be read or decided from another project.',
  },
  {
    id: 'memory.governed',
    source: 'docs/guides/remember.md',
    says: 'The writes of a memory pass the governed pipeline in the name of the person who asked.',
  },
  {
    id: 'memory.knowledge',
    source: 'docs/guides/remember.md',
    says: 'An upload to the knowledge base can request the extraction of its facts.',
  },
  {
    id: 'memory.bad-input',
    source: 'docs/guides/remember.md',
    says: 'An empty or over-long text, a missing ontology and a missing model are refused clearly, and nothing is written.',
  },
  {
    id: 'memory.list',
    source: 'docs/guides/remember.md',
    says: 'GET /v1/memories lists the memories of the project, newest first, by status and page.',
  },
  {
    id: 'memory.retention',
    source: 'docs/guides/remember.md',
    says: 'With MEMORY_RETENTION_DAYS, a memory that has ended is deleted with its parts after that time; without it, it is kept.',
  },
] as const satisfies readonly Requirement[];
