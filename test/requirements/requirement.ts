import type { FullForm } from './full-forms.js';

/** One promise to users. It has a test. */
export interface Requirement {
  readonly id: string;
  /** Where the promise is written: a public page, or a document of this repository with its section. */
  readonly source: `https://${string}` | `docs/${string}`;
  readonly says: string;
  /** The variable that sets the size of the test, if the usual run is smaller than the promise. */
  readonly fullForm?: FullForm;
}
