import { isVisible } from '../base/validation.js';

const maxNameLength = 500;

/** Converts text of another system to a valid entity name. */
export function graphName(text: string): string {
  const clean = text
    .normalize('NFC')
    .replace(/[\u0000-\u001F\u007F]/g, ' ')
    .trim();
  const name = graphText(clean, maxNameLength).trim();
  return isVisible(name) ? name : 'unnamed';
}

/** Converts text to well-formed Unicode of at most `maxLength` characters. */
export function graphText(text: string, maxLength: number): string {
  return text.slice(0, maxLength).toWellFormed();
}
