import { describe, expect, test } from '@jest/globals';
import { strToU8, zipSync } from 'fflate';
import { extract, extractText } from '../../../../src/domain/knowledge/extract.js';
import { typeOf } from '../../../../src/domain/files/mime-type.js';
import { chunkSize } from '../../../../src/domain/knowledge/chunks.js';
import { verifies } from '../../../support/verifies.js';
import { filledForm, linesPdf } from './documents.js';

const bytes = (text: string) => new TextEncoder().encode(text);
const packed = (entries: Record<string, string>) =>
  zipSync(Object.fromEntries(Object.entries(entries).map(([name, text]) => [name, strToU8(text)])));
const office = 'application/vnd.openxmlformats-officedocument';
const docx = `${office}.wordprocessingml.document`;
const xlsx = `${office}.spreadsheetml.sheet`;
const pptx = `${office}.presentationml.presentation`;

const relations = (...targets: [id: string, type: string, target: string][]) =>
  `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${targets
    .map(([id, type, target]) => `<Relationship Id="${id}" Type="http://x/${type}" Target="${target}"/>`)
    .join('')}</Relationships>`;
const shape = (type: string, ...paragraphs: string[]) =>
  `<p:sp><p:nvSpPr><p:nvPr><p:ph type="${type}"/></p:nvPr></p:nvSpPr><p:txBody>${paragraphs
    .map((text) => `<a:p><a:r><a:t>${text}</a:t></a:r></a:p>`)
    .join('')}</p:txBody></p:sp>`;

describe('tables', () => {
  test('each part of a row that is longer than a chunk names its columns', async () => {
    verifies('knowledge-base.csv');
    const long = (word: string) => `${word} is a word. `.repeat(200).trim();
    const chunks = await extract(
      bytes(`id,first note,second\n7,"${long('Alpha')}","${long('Beta')}\n\nend"\n`),
      'text/csv',
    );
    expect(chunks.length).toBeGreaterThan(4);
    for (const { text } of chunks) {
      expect(text.length).toBeLessThanOrEqual(chunkSize);
      for (const line of text.split('\n').filter((each) => /Alpha|Beta/.test(each)))
        expect(line).toMatch(line.includes('Alpha') ? /^first note: / : /^second: /);
    }
    expect(chunks.map(({ text }) => text.match(/Alpha|Beta/g)?.length ?? 0).reduce((sum, n) => sum + n)).toBe(400);
  });

  test('a workbook has the names of its sheets and columns, and dates and numbers as people read them', async () => {
    verifies('knowledge-base.formats');
    const sheet = (rows: string) =>
      `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>${rows}</sheetData></worksheet>`;
    const text = (at: string, value: string) => `<c r="${at}" t="inlineStr"><is><t>${value}</t></is></c>`;
    const book = packed({
      '[Content_Types].xml': '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
      'xl/workbook.xml': `<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="Orders" sheetId="1" r:id="rId1"/><sheet name="Preise" sheetId="2" r:id="rId2"/></sheets></workbook>`,
      'xl/_rels/workbook.xml.rels': relations(
        ['rId1', 'worksheet', 'worksheets/sheet1.xml'],
        ['rId2', 'worksheet', 'worksheets/sheet2.xml'],
        ['rId3', 'styles', 'styles.xml'],
      ).replaceAll('http://x/', 'http://schemas.openxmlformats.org/officeDocument/2006/relationships/'),
      'xl/styles.xml':
        '<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><cellXfs count="3"><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="22"/></cellXfs></styleSheet>',
      'xl/worksheets/sheet1.xml': sheet(
        `<row r="2">${text('A2', 'Day')}${text('B2', 'Paid')}${text('C2', 'Number')}</row><row r="3"><c r="A3" s="1"><v>46056</v></c><c r="B3" s="2"><v>46056.604340277778</v></c><c r="C3"><v>9007199254740993</v></c></row><row r="4"><c r="C4"><v>0.30000000000000004</v></c></row>`,
      ),
      'xl/worksheets/sheet2.xml': sheet(
        `<row r="1">${text('A1', 'Ware')}</row><row r="2">${text('A2', 'Größe &amp; Maß')}</row>`,
      ),
    });
    expect(await extract(book, xlsx)).toEqual([
      {
        heading: 'Orders',
        page: null,
        text: 'Day: 2026-02-03\nPaid: 2026-02-03 14:30:15\nNumber: 9007199254740993\n\nNumber: 0.3',
      },
      { heading: 'Preise', page: null, text: 'Ware: Größe & Maß' },
    ]);
    expect(await extractText(book, xlsx)).toContain('Preise\n\nWare: Größe & Maß');
  });

  test('rows of tables in HTML keep their cells apart', async () => {
    verifies('knowledge-base.formats');
    const [chunk] = await extract(
      bytes('<table><tr><th>Name<th>Price<tr><td><p>Bolt</p><td>3,50</table>'),
      'text/html',
    );
    expect(chunk?.text).toBe('Name | Price\nBolt | 3,50');
  });
});

describe('data files', () => {
  test('JSON has a record for each object of a list, with paths, and long numbers as they are written', async () => {
    verifies('knowledge-base.formats');
    const json =
      '{"shop":"Caf\\u00e9","items":[{"name":"Bolt","sizes":[1,2]},{"name":"Nut","id":9007199254740993,"old":null}]}';
    const [chunk] = await extract(bytes(json), 'application/json');
    expect(chunk?.text).toBe(
      'shop: Café\n\nitems.0.name: Bolt\nitems.0.sizes.0: 1\nitems.0.sizes.1: 2\n\nitems.1.name: Nut\nitems.1.id: 9007199254740993\nitems.1.old: null',
    );
  });

  test('XML has a record for each element of elements, and its entities are not expanded', async () => {
    verifies('knowledge-base.formats', 'knowledge-base.safe-formats');
    const xml = `<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "${'x'.repeat(100)}"><!ENTITY c SYSTEM "file:///etc/passwd">]>
      <feed xmlns="http://a"><item id="7"><title>One &amp; &#252;</title><note><![CDATA[a < b]]></note></item><item><title>&b;&c;</title></item></feed>`;
    const [chunk] = await extract(bytes(xml), 'application/xml');
    expect(chunk?.text).toBe('item id: 7\ntitle: One & ü\nnote: a < b\n\ntitle: &b;&c;');
  });
});

test('a presentation is read in its order, with titles, tables and notes', async () => {
  verifies('knowledge-base.formats');
  const slide = (...shapes: string[]) =>
    `<p:sld xmlns:p="p" xmlns:a="a"><p:cSld><p:spTree>${shapes.join('')}</p:spTree></p:cSld></p:sld>`;
  const table =
    '<p:graphicFrame><a:tbl><a:tr><a:tc><a:p><a:t>Q1</a:t></a:p></a:tc><a:tc><a:p><a:t>12</a:t></a:p></a:tc></a:tr></a:tbl></p:graphicFrame>';
  const presentation = packed({
    'ppt/presentation.xml':
      '<p:presentation xmlns:p="p" xmlns:r="r"><p:sldIdLst><p:sldId r:id="r2"/><p:sldId r:id="r1"/></p:sldIdLst></p:presentation>',
    'ppt/_rels/presentation.xml.rels': relations(
      ['r1', 'slide', 'slides/slide1.xml'],
      ['r2', 'slide', '/ppt/slides/slide2.xml'],
    ),
    'ppt/slides/slide1.xml': slide(shape('title', 'Second'), table, shape('sldNum', '99')),
    'ppt/slides/slide2.xml': slide(shape('ctrTitle', 'First'), shape('body', 'one', 'two')),
    'ppt/slides/_rels/slide2.xml.rels': relations(['r9', 'notesSlide', '../notesSlides/notesSlide1.xml']),
    'ppt/notesSlides/notesSlide1.xml': slide(shape('body', 'Say hello')),
  });
  expect(await extract(presentation, pptx)).toEqual([
    { heading: 'First', page: 1, text: 'First\n\none\ntwo\n\nSay hello' },
    { heading: 'Second', page: 2, text: 'Second\n\nQ1 | 12' },
  ]);
});

test('a part of a presentation or a book that is listed again is read once', async () => {
  verifies('knowledge-base.safe-formats');
  const again = <T>(item: T) => Array.from({ length: 500 }, () => item);
  const presentation = packed({
    'ppt/presentation.xml': `<p:presentation xmlns:p="p" xmlns:r="r">${again('<p:sldId r:id="r1"/>').join('')}<p:sldId r:id="r2"/></p:presentation>`,
    'ppt/_rels/presentation.xml.rels': relations(['r1', 'slide', 'slides/a.xml'], ['r2', 'slide', 'slides/b.xml']),
    'ppt/slides/a.xml': `<p:sld xmlns:p="p" xmlns:a="a">${shape('body', 'one')}</p:sld>`,
    'ppt/slides/b.xml': `<p:sld xmlns:p="p" xmlns:a="a">${shape('body', 'two')}</p:sld>`,
    'ppt/slides/_rels/a.xml.rels': relations(
      ...again(0).map((_, at): [string, string, string] => [`n${at}`, 'notesSlide', '../notes.xml']),
    ),
    'ppt/slides/_rels/b.xml.rels': relations(['n', 'notesSlide', '../notes.xml']),
    'ppt/notes.xml': `<p:notes xmlns:p="p" xmlns:a="a">${shape('body', 'spoken')}</p:notes>`,
  });
  expect((await extract(presentation, pptx)).map(({ text }) => text)).toEqual(['one\n\nspoken', 'two']);
  const book = packed({
    'META-INF/container.xml': '<container><rootfiles><rootfile full-path="book.opf"/></rootfiles></container>',
    'book.opf': `<package><manifest><item id="a" href="one.xhtml"/></manifest><spine>${again('<itemref idref="a"/>').join('')}</spine></package>`,
    'one.xhtml': '<html><body><p>first</p></body></html>',
  });
  expect((await extract(book, 'application/epub+zip')).map(({ text }) => text)).toEqual(['first']);
});

test('a book is read in the order of its chapters, by headings', async () => {
  verifies('knowledge-base.formats');
  const book = packed({
    mimetype: 'application/epub+zip',
    'META-INF/container.xml': '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>',
    'OPS/book.opf':
      '<package><manifest><item id="b" href="text/two%20b.xhtml"/><item id="a" href="text/one.xhtml"/></manifest><spine><itemref idref="a"/><itemref idref="b"/></spine></package>',
    'OPS/text/two b.xhtml': '<html><body><h1>Two</h1><p>second</p></body></html>',
    'OPS/text/one.xhtml': '<?xml version="1.0"?><html><body><h1>One</h1><p>first</p></body></html>',
  });
  expect((await typeOf(Buffer.from(book), true, 'book.epub')).mimeType).toBe('application/epub+zip');
  const chunks = await extract(book, 'application/epub+zip');
  expect(chunks.map(({ heading, text }) => [heading, text])).toEqual([
    ['One', 'One\n\nfirst'],
    ['Two', 'Two\n\nsecond'],
  ]);
});

test('a mail has its decoded subject and text, and the names of its attachments', async () => {
  verifies('knowledge-base.formats');
  const mail = [
    'From: =?utf-8?Q?Zo=C3=AB?= <zoe@example.com>',
    'To: ann@example.com',
    'Subject: =?iso-8859-1?Q?Gr=FC=DFe?=',
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    'Content-Type: text/plain; charset=iso-8859-1',
    'Content-Transfer-Encoding: quoted-printable',
    '',
    'Sch=F6ne Gr=FC=\r\n=DFe',
    '--b',
    'Content-Type: application/pdf; name="=?utf-8?B?w5xiZXIucGRm?="',
    'Content-Disposition: attachment; filename="=?utf-8?B?w5xiZXIucGRm?="',
    'Content-Transfer-Encoding: base64',
    '',
    'JVBERi0xLjQ=',
    '--b--',
    '',
  ].join('\r\n');
  expect((await typeOf(Buffer.from(mail), true, 'a.eml')).mimeType).toBe('message/rfc822');
  expect(await extract(bytes(mail), 'message/rfc822')).toEqual([
    {
      heading: 'Grüße',
      page: null,
      text: expect.stringMatching(
        /^Subject: Grüße\nFrom: Zoë <zoe@example.com>\nTo: <ann@example.com>\n\nSchöne Grüße\s+Attachment: Über.pdf$/,
      ),
    },
  ]);
});

describe('packed documents', () => {
  const bomb = (name: string) => zipSync({ [name]: new Uint8Array(300 * 1024 * 1024) }, { level: 1 });

  test.each([
    ['a document that unpacks to 300 MiB', docx, () => bomb('word/document.xml'), /larger than 256 MiB/],
    ['a presentation that unpacks to 300 MiB', pptx, () => bomb('ppt/presentation.xml'), /larger than 256 MiB/],
    ['a book that unpacks to 300 MiB', 'application/epub+zip', () => bomb('a.xhtml'), /larger than 256 MiB/],
    [
      'too many entries',
      xlsx,
      () => packed(Object.fromEntries(Array.from({ length: 20_001 }, (_, at) => [`${at}.bin`, '']))),
      /more than 20000 entries/,
    ],
    [
      'entities',
      xlsx,
      () => packed({ 'xl/workbook.xml': '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><workbook/>' }),
      /document type definition/,
    ],
    [
      'entities in UTF-16',
      docx,
      () => zipSync({ 'word/document.xml': Buffer.from('\uFEFF<!DOCTYPE a [<!ENTITY b "c">]><a/>', 'utf16le') }),
      /document type definition/,
    ],
    ['another ZIP file', docx, () => packed({ 'a.txt': 'a' }), /DOCX file cannot be read/],
    ['another ZIP file', pptx, () => packed({ 'a.txt': 'a' }), /no presentation/],
    ['no ZIP file', xlsx, () => bytes('PK nonsense'), /XLSX file cannot be read/],
    ['elements without end', 'application/xml', () => bytes('<a>'.repeat(5000)), /nests more than 1000 elements/],
    ['lists without end', 'application/json', () => bytes('['.repeat(3)), /JSON is not valid/],
  ])('refuses %s (%s)', async (_name, type, content, message) => {
    verifies('knowledge-base.safe-formats');
    await expect(extract(content(), type)).rejects.toThrow(message);
  });

  test('an entry gets no more bytes than its header states', async () => {
    verifies('knowledge-base.safe-formats');
    const book = Buffer.from(packed({ 'META-INF/container.xml': '<a/>', 'x.xhtml': 'y'.repeat(5_000_000) }));
    // The uncompressed size in the central directory.
    for (let at = book.indexOf('PK\x01\x02'); at !== -1; at = book.indexOf('PK\x01\x02', at + 4))
      book.writeUInt32LE(4, at + 24);
    await expect(extract(new Uint8Array(book), 'application/epub+zip')).rejects.toThrow('no package document');
  });
});

describe('PDF', () => {
  test('contains the values of form fields, but no passwords and nothing that is not chosen', async () => {
    verifies('knowledge-base.pdf');
    const [chunk] = await extract(new Uint8Array(filledForm()), 'application/pdf');
    expect(chunk?.text).toBe('Application\n\nFull name: Formvalue Person\nagree: Yes\ncolour: red, blue');
  });

  test('joins words that are divided at the end of a line, and keeps the hyphen of compounds', async () => {
    verifies('knowledge-base.pdf');
    const lines = [
      'The organi-',
      'zation has a long-',
      'term plan, and no other',
      'long-term one. In 2020-',
      '2021 it grew.',
    ];
    const [chunk] = await extract(new Uint8Array(linesPdf(lines)), 'application/pdf');
    expect(chunk?.text).toBe(
      'The organization has a long-term plan, and no other\nlong-term one. In 2020-\n2021 it grew.',
    );
  });

  test.each([
    [
      ['T h e M e t r o p o l i s T o w e r 1', 'S i n g a p o r e 1 3 8 5 8 8', 'A B C D E F 1'],
      'The Metropolis Tower 1\nSingapore 138588\nABCDEF1',
    ],
    [
      ['a plain line', 'H e l l o , w o r l d', 'another plain line', 'and one more'],
      'a plain line\nHello, world\nanother plain line\nand one more',
    ],
    [
      ['the digits 1 2 3 4 5 6 7', 'grades A B C D E F', 'points a b c d e f', 'I am a b'],
      'the digits 1 2 3 4 5 6 7\ngrades A B C D E F\npoints a b c d e f\nI am a b',
    ],
  ])('closes up spaced text, and no lists: %j', async (lines, text) => {
    verifies('knowledge-base.pdf');
    expect(await extractText(new Uint8Array(linesPdf(lines)), 'application/pdf')).toBe(text);
  });

  test.each([1, 700, 1010])('may begin after %i other bytes', async (length) => {
    verifies('knowledge-base.pdf');
    const pdf = Buffer.concat([Buffer.from(`${'x'.repeat(length)}\n`), linesPdf(['Hello there'])]);
    expect((await typeOf(pdf, true, 'a.pdf')).mimeType).toBe('application/pdf');
    expect(await extractText(new Uint8Array(pdf), 'application/pdf')).toBe('Hello there');
  });

  test('a text about PDF is not a PDF', async () => {
    expect((await typeOf(Buffer.from('A file begins with\n%PDF-1.7\nand so on.'), true, 'a.txt')).mimeType).toBe(
      'text/plain',
    );
  });
});
