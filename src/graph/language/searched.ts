import { fold, titleKey, tokensOf } from './tokens.js';

/** A short particle before an apostrophe, as in O'Brien and L'Oréal. */
const particle = /(?<![\p{L}\p{N}])(\p{L}{1,2})['’‘ʼʻʹ´\u0060](\p{L}{3,})/gu;

/**
 * The internal properties by which full text finds a node: its text, the words of the text, and for an entity the words and
 * the key of its name. No argument contains personal values.
 */
export function searchedProperties(text: string, name?: string): Record<string, string> {
  return {
    _search: text,
    _words: tokensOf(text).join(' '),
    ...(name !== undefined && { _title: titleOf(name), _title_key: titleKey(name) }),
  };
}

/** Returns the words of a name, with and without the apostrophe of a particle: `o brien obrien`. */
function titleOf(name: string): string {
  const joined = [...fold(name).matchAll(particle)].map(([, before = '', after = '']) => before + after);
  return [...tokensOf(name), ...joined].join(' ');
}
