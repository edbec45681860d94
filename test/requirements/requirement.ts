import type { FullForm } from './full-forms.js';

/** The issue that builds a requirement: parts 1 to 7 are issues 3 to 9, part 8 is issue 13, part 9 is issue 14, part 11 is issue 16, part 12 is issue 17, part 13 is issue 18. */
export type Part = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 11 | 12 | 13;

type Document =
  | 'spec'
  | 'contract'
  | 'design'
  | 'services'
  | 'review'
  | `issue ${3 | 4 | 5 | 6 | 7 | 8 | 9 | 13 | 14 | 15 | 16 | 17 | 18}`;

/** A public page, or a document of this repository. */
type PublicSource = `https://${string}` | `docs/${string}`;

/** One promise of the documents. `delivered` marks a promise of a later part that already holds and has its test. */
export interface Requirement {
  readonly id: string;
  /** Where the promise is written. A document is followed by its section, row or line. */
  readonly source: `${Document}: ${string}` | PublicSource;
  /** A requirement without a part must have a test. */
  readonly part?: Part;
  readonly says: string;
  readonly delivered?: true;
  /** The variable that sets the size of the test, if the usual run is smaller than the promise. */
  readonly fullForm?: FullForm;
}
