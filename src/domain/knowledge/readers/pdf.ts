import type { PDFDocumentProxy, PDFPageProxy } from 'unpdf/pdfjs';
import type { Section } from '../chunks.js';
import { extractionLimits, reasonOf, refuseBeyond, UnreadableDocument } from '../limits.js';
import { closeUp, joinHyphenated } from './pdf-lines.js';

/** Reads each page with the values of its form fields. @throws UnreadableDocument */
export async function fromPdf(bytes: Uint8Array): Promise<Section[]> {
  const { getDocumentProxy } = await import('unpdf');
  try {
    return await sectionsOf(await getDocumentProxy(bytes, { verbosity: 0, isEvalSupported: false }));
  } catch (error) {
    if (error instanceof UnreadableDocument) throw error;
    throw new UnreadableDocument(`the PDF cannot be read: ${reasonOf(error)}`);
  }
}

async function sectionsOf(document: PDFDocumentProxy): Promise<Section[]> {
  if (document.numPages > extractionLimits.pages)
    throw new UnreadableDocument(`the PDF has more than ${extractionLimits.pages} pages`);
  const pages: string[] = [];
  let characters = 0;
  for (let at = 1; at <= document.numPages; at += 1) {
    const page = await document.getPage(at);
    const text = [closeUp(await textOfPage(page)), ...(await valuesOfPage(page))].join('\n\n');
    page.cleanup();
    refuseBeyond((characters += text.length));
    pages.push(text);
  }
  return joinHyphenated(pages).map((text, at) => ({ heading: null, page: at + 1, text, overlap: true }));
}

async function textOfPage(page: PDFPageProxy): Promise<string> {
  const { items } = await page.getTextContent();
  return items.map((item) => ('str' in item ? item.str + (item.hasEOL ? '\n' : '') : '')).join('');
}

/** An annotation of a page, as pdf.js describes it. */
interface Annotation {
  subtype?: string;
  hidden?: boolean;
  fieldType?: string;
  fieldName?: string;
  alternativeText?: string;
  fieldValue?: unknown;
  buttonValue?: unknown;
  password?: boolean;
  contentsObj?: { str?: string };
}

/** The values of form fields, which are not part of the text of a page, and notes that are written on it. */
async function valuesOfPage(page: PDFPageProxy): Promise<string[]> {
  const annotations = (await page.getAnnotations()) as Annotation[];
  const lines = annotations.flatMap((annotation) => {
    if (annotation.hidden) return [];
    if (annotation.subtype === 'FreeText') return annotation.contentsObj?.str?.trim() || [];
    const value = annotation.subtype === 'Widget' ? valueOf(annotation) : '';
    const name = annotation.alternativeText?.trim() || annotation.fieldName;
    return value === '' ? [] : [name ? `${name}: ${value}` : value];
  });
  return lines.length === 0 ? [] : [lines.join('\n')];
}

function valueOf({ fieldType, fieldValue, buttonValue, password }: Annotation): string {
  if (password || fieldType === 'Sig') return '';
  if (fieldType === 'Btn') {
    const isChosen = fieldValue !== 'Off' && (typeof buttonValue !== 'string' || fieldValue === buttonValue);
    return isChosen && typeof fieldValue === 'string' ? fieldValue : '';
  }
  return (Array.isArray(fieldValue) ? fieldValue : [fieldValue])
    .filter((value): value is string => typeof value === 'string' && value.trim() !== '')
    .join(', ');
}
