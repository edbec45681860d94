import { withoutControls } from '../../base/encodings.js';
import { isDocumentType, type DocumentType } from '../files/rules.js';
import { chunksOf, type Chunk, type Section } from './chunks.js';
import { extractionLimits, refuseBeyond, UnreadableDocument } from './limits.js';
import { fromCsv } from './readers/csv.js';
import { fromEpub } from './readers/epub.js';
import { fromHtml } from './readers/html.js';
import { fromJson } from './readers/json.js';
import { fromMail } from './readers/mail.js';
import { fromDocx, fromXlsx } from './readers/office.js';
import { fromPdf } from './readers/pdf.js';
import { fromRtf } from './readers/rtf.js';
import { fromPptx } from './readers/slides.js';
import { fromMarkdown, fromPlainText, textOf } from './readers/text.js';
import { fromXml } from './readers/xml.js';

type Reader = (bytes: Uint8Array) => Section[] | Promise<Section[]>;

const ofText =
  (read: (text: string) => Section[]): Reader =>
  async (bytes) =>
    read(withoutControls(await textOf(bytes)));

const office = 'application/vnd.openxmlformats-officedocument';
const readers: Record<DocumentType, Reader> = {
  'text/plain': ofText(fromPlainText),
  'text/markdown': ofText(fromMarkdown),
  'text/html': ofText(fromHtml),
  'text/csv': ofText(fromCsv),
  'text/tab-separated-values': ofText(fromCsv),
  'application/json': ofText(fromJson),
  'application/yaml': ofText(fromPlainText),
  'application/xml': ofText(fromXml),
  'application/xhtml+xml': ofText(fromHtml),
  'application/pdf': fromPdf,
  [`${office}.wordprocessingml.document` as const]: fromDocx,
  [`${office}.spreadsheetml.sheet` as const]: fromXlsx,
  [`${office}.presentationml.presentation` as const]: fromPptx,
  'application/epub+zip': fromEpub,
  'message/rfc822': fromMail,
  'application/rtf': fromRtf,
};

/** @throws UnreadableDocument with the reason */
export async function extract(bytes: Uint8Array, mimeType: string): Promise<Chunk[]> {
  const chunks = chunksOf(await sectionsOf(bytes, mimeType));
  if (chunks.length === 0) throw new UnreadableDocument('the document contains no text');
  if (chunks.length > extractionLimits.chunks)
    throw new UnreadableDocument(`the document has more than ${extractionLimits.chunks} sections`);
  return chunks;
}

/**
 * Returns the whole text of a document, with an empty line between pages, and the names of sheets. @throws UnreadableDocument with the reason
 */
export async function extractText(bytes: Uint8Array, mimeType: string): Promise<string> {
  const text = (await sectionsOf(bytes, mimeType))
    .map(({ heading, text, overlap }) => (heading !== null && !overlap ? `${heading}\n\n${text}` : text).trim())
    .join('\n\n')
    .trim();
  if (text === '') throw new UnreadableDocument('the document contains no text');
  return text;
}

async function sectionsOf(bytes: Uint8Array, mimeType: string): Promise<Section[]> {
  if (!isDocumentType(mimeType)) throw new UnreadableDocument(`documents of the type ${mimeType} cannot be read`);
  const sections = await readers[mimeType](bytes);
  refuseBeyond(sections.reduce((sum, { text }) => sum + text.length, 0));
  return sections.map((section) => ({ ...section, text: withoutControls(section.text).toWellFormed() }));
}
