const nameAtMost = 500;

/** What the graph takes as an entity's name, of whatever text another system gave. */
export function graphName(text: string): string {
  const clean = text.replace(/[\u0000-\u001F\u007F]/g, ' ').trim();
  return graphText(clean, nameAtMost).trim() || 'unnamed';
}

/** Well-formed Unicode of at most so many characters. */
export function graphText(text: string, most: number): string {
  return text.slice(0, most).replace(/\p{Surrogate}/gu, '\uFFFD');
}
