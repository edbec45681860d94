import { z } from 'zod';

const visible = /[^\p{Cc}\p{Cf}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u;

export function isVisible(text: string): boolean {
  return visible.test(text);
}

/** A trimmed text that a reader can see. Only invisible characters, such as U+200B, are refused. */
export const VisibleText = z
  .string()
  .trim()
  .refine((text) => text === '' || isVisible(text), 'must contain a visible character');
