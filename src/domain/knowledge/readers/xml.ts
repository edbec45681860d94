import { Parser } from 'htmlparser2';
import type { Section } from '../chunks.js';
import { decodeText } from '../../../base/encodings.js';
import { extractionLimits, refuseBeyond, UnreadableDocument } from '../limits.js';
import { type Field, sectionOfRecords } from '../records.js';

interface XmlHandlers {
  /** The name has no prefix of a namespace. */
  open?(name: string, attributes: Record<string, string>): void;
  text?(text: string): void;
  close?(name: string): void;
}

/**
 * Reads XML from its start to its end. The parser knows no entities but those of XML itself, so a document cannot
 * include others or grow. @throws UnreadableDocument
 */
export function readXml(xml: string, { open, text, close }: XmlHandlers): void {
  let depth = 0;
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        depth += 1;
        if (depth > extractionLimits.openElements)
          throw new UnreadableDocument(`the XML nests more than ${extractionLimits.openElements} elements`);
        open?.(localName(name), attributes);
      },
      ontext: text,
      onclosetag(name) {
        depth -= 1;
        close?.(localName(name));
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.end(xml);
}

export async function xmlTextOf(bytes: Uint8Array | undefined): Promise<string> {
  return (bytes && (await decodeText(bytes))?.text) ?? '';
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

/** Reads each element with text, and each attribute, as a line `name: value`. An element of elements is a record. */
export function fromXml(xml: string): Section[] {
  refuseBeyond(xml.length);
  const records: Field[][] = [];
  const path: { name: string; text: string; hasElements: boolean; firstField: number }[] = [];
  let record: Field[] = [];
  const end = () => {
    if (record.length > 0) records.push(record);
    record = [];
  };
  /** The attributes of an element belong to the record of its elements. */
  const endBefore = (field: number) => {
    const own = record.splice(field);
    end();
    record = own;
  };
  readXml(xml, {
    open(name, attributes) {
      const parent = path.at(-1);
      if (parent) {
        if (!parent.hasElements) endBefore(parent.firstField);
        parent.hasElements = true;
        keepText(parent);
      }
      path.push({ name, text: '', hasElements: false, firstField: record.length });
      for (const [key, value] of Object.entries(attributes)) {
        if (!/^xmlns(:|$)|:schemaLocation$/.test(key)) record.push({ name: `${name} ${key}`, value });
      }
    },
    text(text) {
      const element = path.at(-1);
      if (element) element.text += text;
    },
    close() {
      const element = path.pop();
      if (!element) return;
      keepText(element);
      if (element.hasElements) end();
    },
  });
  end();
  return [sectionOfRecords(records)];

  function keepText(element: { name: string; text: string }) {
    if (element.text.trim() !== '') record.push({ name: element.name, value: element.text });
    element.text = '';
  }
}
