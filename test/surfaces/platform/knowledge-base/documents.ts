/** A PDF (ISO 32000) with one line of text on each page. */
export function pdfOf(pages: readonly string[]): Buffer {
  return pdfWith(pages.map((text) => ({ lines: [text] })));
}

/** A PDF of one page with these lines. */
export function linesPdf(lines: readonly string[]): Buffer {
  return pdfWith([{ lines }]);
}

/** A PDF form: a text, a password, an empty text, two boxes of which one is checked, and a list with two chosen values. */
export function filledForm(): Buffer {
  const field = (fields: string) => `<< /Type /Annot /Subtype /Widget /Rect [0 0 99 20] ${fields} >>`;
  const box = (name: string, value: string) =>
    field(`/FT /Btn /T (${name}) /V /${value} /AS /${value} /AP << /N << /Yes 3 0 R /Off 3 0 R >> >>`);
  const fields = [
    field('/FT /Tx /T (name) /TU (Full name) /V (Formvalue Person)'),
    field('/FT /Tx /T (pin) /Ff 8192 /V (Secret)'),
    field('/FT /Tx /T (empty) /V ()'),
    box('agree', 'Yes'),
    box('refuse', 'Off'),
    field('/FT /Ch /T (colour) /Ff 2097152 /Opt [(red) (green) (blue)] /V [(red) (blue)]'),
  ];
  return pdfWith([{ lines: ['Application'], fields }]);
}

function pdfWith(pages: readonly { lines: readonly string[]; fields?: readonly string[] }[]): Buffer {
  const kids = pages.map((_, at) => `${4 + at * 2} 0 R`).join(' ');
  const firstField = 4 + pages.length * 2;
  const fields = pages.flatMap((page) => page.fields ?? []);
  const references = fields.map((_, at) => `${firstField + at} 0 R`).join(' ');
  const objects = [
    `<< /Type /Catalog /Pages 2 0 R ${fields.length > 0 ? `/AcroForm << /Fields [${references}] >>` : ''} >>`,
    `<< /Type /Pages /Count ${pages.length} /Kids [${kids}] >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ];
  for (const [at, page] of pages.entries()) {
    const stream = `BT /F1 12 Tf 14 TL 20 700 Td ${page.lines.map((line) => `(${line}) Tj T*`).join(' ')} ET`;
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Resources << /Font << /F1 3 0 R >> >> /Contents ${5 + at * 2} 0 R ${page.fields ? `/Annots [${references}]` : ''} >>`,
    );
    objects.push(`<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`);
  }
  objects.push(...fields);
  let body = '%PDF-1.4\n';
  const places = objects.map((object, at) => {
    const place = body.length;
    body += `${at + 1} 0 obj\n${object}\nendobj\n`;
    return place;
  });
  const table = places.map((place) => `${String(place).padStart(10, '0')} 00000 n \n`).join('');
  return Buffer.from(
    `${body}xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${body.length}\n%%EOF\n`,
  );
}

/** Paragraphs of different words, with a unique word in each. */
export function longText(paragraphs: number, word: (at: number) => string): string {
  return Array.from(
    { length: paragraphs },
    (_, at) => `${word(at)}. ${`The harbour of town number ${at} has many boats and few sailors. `.repeat(14)}`,
  ).join('\n\n');
}
