import type { CellValue } from 'read-excel-file/universal';
import type { Section } from '../chunks.js';
import { reasonOf, UnreadableDocument } from '../limits.js';
import { recordsOfRows, sectionOfRecords } from '../records.js';
import { fromHtml } from './html.js';
import { mendedPart } from './workbook.js';
import { readXml, xmlTextOf } from './xml.js';
import { type Entries, safePackage } from './zip.js';

/** Reads a document of Word by its headings. @throws UnreadableDocument */
export async function fromDocx(bytes: Uint8Array): Promise<Section[]> {
  const { packed, entries } = safePackage(bytes, 'DOCX');
  const document = Buffer.from(packed);
  const { default: mammoth } = await import('mammoth');
  const withoutImages = mammoth.images.imgElement(() => Promise.resolve({ src: '' }));
  const { value } = await read('DOCX', () =>
    mammoth.convertToHtml({ buffer: document }, { convertImage: withoutImages }),
  );
  const margins = await marginsOf(entries);
  const sections = fromHtml(value);
  return margins === '' ? sections : [...sections, { heading: null, page: null, text: margins, overlap: true }];
}

/** The different paragraphs of headers and footers, which the library does not read. */
async function marginsOf(entries: Entries): Promise<string> {
  const paragraphs = new Set<string>();
  for (const [name, content] of Object.entries(entries)) {
    if (!/^word\/(header|footer)\d{0,5}\.xml$/i.test(name)) continue;
    let [text, isText] = ['', false];
    readXml(await xmlTextOf(content), {
      open(element) {
        isText = element === 't';
        if (element === 'tab' || element === 'br') text += ' ';
      },
      text(part) {
        if (isText) text += part;
      },
      close(element) {
        isText = false;
        if (element !== 'p') return;
        // A page number alone says nothing.
        if (/\p{L}/u.test(text)) paragraphs.add(text.replace(/\s+/g, ' ').trim());
        text = '';
      },
    });
  }
  return [...paragraphs].join('\n\n');
}

/** Reads each sheet of a workbook as a table: the first row contains the names of the columns. @throws UnreadableDocument */
export async function fromXlsx(bytes: Uint8Array): Promise<Section[]> {
  const workbook = safePackage(bytes, 'XLSX', mendedPart).packed;
  const { default: readSheets } = await import('read-excel-file/universal');
  const sheets = await read('XLSX', () => readSheets(workbook.slice().buffer, { parseNumber: numberAsText }));
  return sheets.map(({ sheet, data }) => {
    // A sheet that is a chart has no cells.
    const rows = ((data as typeof data | undefined) ?? [])
      .map((row) => row.map(shown))
      .filter((row) => row.some((cell) => cell !== ''));
    return sectionOfRecords(recordsOfRows(rows), { heading: sheet.slice(0, 300) });
  });
}

async function read<T>(format: string, parse: () => Promise<T>): Promise<T> {
  try {
    return await parse();
  } catch (error) {
    throw new UnreadableDocument(`the ${format} file cannot be read: ${reasonOf(error)}`);
  }
}

/** A time without a date is a time on the day zero of spreadsheets. */
const dayZero = '1899-12-30';

/** Keeps long integers as they are written. Other numbers get the 15 digits that spreadsheets show. */
function numberAsText(written: string): string {
  return /^-?\d{1,30}$/.test(written) ? written : String(Number(Number(written).toPrecision(15)));
}

/** Writes a cell as people read it, and dates without a zone. */
function shown(value: CellValue<string> | null): string {
  if (value === null) return '';
  if (!(value instanceof Date)) return String(value);
  if (Number.isNaN(value.getTime())) return '';
  const [day = '', time = ''] = new Date(Math.round(value.getTime() / 1000) * 1000)
    .toISOString()
    .slice(0, 19)
    .split('T');
  if (day === dayZero) return time;
  return time === '00:00:00' ? day : `${day} ${time}`;
}
