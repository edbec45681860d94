import { isFields, type Fields } from '../../agentflows/document.js';
import { maxDepth } from './limits.js';

/** Follows references within one document. */
export class References {
  constructor(private readonly document: Fields) {}

  /** Returns the object that a value is or refers to; undefined for another file, a missing part and a cycle. */
  follow(value: unknown): Fields | undefined {
    let part = value;
    for (let step = 0; step < maxDepth; step += 1) {
      if (!isFields(part)) return undefined;
      if (typeof part.$ref !== 'string') return part;
      part = this.at(part.$ref);
    }
    return undefined;
  }

  /** Reads a JSON pointer such as `#/components/schemas/Order`. */
  private at(reference: string): unknown {
    if (!reference.startsWith('#/')) return undefined;
    return reference
      .slice(2)
      .split('/')
      .map((name) => decoded(name).replaceAll('~1', '/').replaceAll('~0', '~'))
      .reduce<unknown>(
        (part, name) => (isFields(part) && Object.hasOwn(part, name) ? part[name] : undefined),
        this.document,
      );
  }
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
