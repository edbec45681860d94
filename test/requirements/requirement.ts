/** The issue that builds a requirement: part N is issue N + 2. */
export type Part = 1 | 2 | 3 | 4 | 5 | 6 | 7;

type Document = 'spec' | 'contract' | 'design' | 'services' | `issue ${3 | 4 | 5 | 6 | 7 | 8 | 9}`;

/** One promise of the documents. `delivered` marks a promise of a later part that already holds and has its test. */
export interface Requirement {
  readonly id: string;
  /** Document, then section, row or line. */
  readonly source: `${Document}: ${string}`;
  readonly part: Part;
  readonly says: string;
  readonly delivered?: true;
}
