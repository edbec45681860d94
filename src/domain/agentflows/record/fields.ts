import { z } from 'zod';
import { VisibleText } from '../../../base/validation.js';

const IdText = z.string().regex(/^[A-Za-z0-9_.-]{1,100}$/, 'must be 1 to 100 letters, digits, "_", "." or "-"');
// Ids are names in objects: a run keeps its previews by agent id, and inputs by action id.
export const Id = IdText.refine((id) => !(id in Object.prototype), 'must not be a reserved name such as "constructor"');
export const Pointer = z.string().max(100);
export const Name = VisibleText.min(1).max(200);
export const Text = z.string().max(100_000);
export const AnyJson = z.unknown().describe('Any JSON value.');
/** A JSON Schema (2020-12). `operations/schemas.ts` checks it. */
export const JsonSchema = z
  .record(z.string(), z.unknown())
  .meta({ example: { type: 'object', properties: { total: { type: 'number' } }, required: ['total'] } });
export const Time = z.number().describe('Epoch seconds.');
export const maxEntries = 1000;
