import type { TextIndexInput } from './messages.js';

export interface TextIndexActivities {
  /** Builds the full-text index of the project's language, from where an earlier attempt stopped. */
  buildTextIndex(project: TextIndexInput): Promise<void>;
}
