import { AppError } from '../../base/errors.js';
import { extract, extractText } from './extract.js';
import { UnreadableDocument } from './limits.js';
import type { DocumentInput, Extracted } from './extraction.js';

/** Runs in a thread. @throws AppError `validation_failed` for a document that cannot be read */
export async function extractDocument({ bytes, mimeType, as }: DocumentInput): Promise<Extracted[keyof Extracted]> {
  try {
    return as === 'chunks' ? await extract(bytes, mimeType) : await extractText(bytes, mimeType);
  } catch (error) {
    if (error instanceof UnreadableDocument) throw new AppError('validation_failed', error.message);
    if (error instanceof RangeError) throw new AppError('validation_failed', 'the document is nested too deeply');
    throw error;
  }
}
