/** Markup that is safe to insert. A template escapes every other value. */
export interface Html {
  readonly markup: string;
}

type Part = Html | string | number | undefined | false | readonly Html[];

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Builds markup and escapes values for text and for quoted attributes. `undefined` and `false` produce nothing. */
export function html(texts: TemplateStringsArray, ...parts: Part[]): Html {
  return { markup: texts.reduce((markup, text, at) => markup + markupOf(parts[at - 1]) + text) };
}

function markupOf(part: Part): string {
  if (part === undefined || part === false) return '';
  if (typeof part === 'string' || typeof part === 'number')
    return String(part).replace(/[&<>"']/g, (found) => entities[found] ?? '');
  return 'markup' in part ? part.markup : part.map(({ markup }) => markup).join('');
}

/** Marks a constant of this service as markup, such as a style sheet. */
export function trusted(markup: string): Html {
  return { markup };
}
