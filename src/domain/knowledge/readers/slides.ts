import type { Section } from '../chunks.js';
import { extractionLimits, UnreadableDocument } from '../limits.js';
import { readXml, xmlTextOf } from './xml.js';
import { type Entries, unzip } from './zip.js';

/**
 * Reads a presentation slide by slide in the order of the presentation, with the speaker's notes. A slide or a page of notes
 * that is listed again is not read again. @throws UnreadableDocument
 */
export async function fromPptx(bytes: Uint8Array): Promise<Section[]> {
  const entries = unzip(bytes, 'PPTX', (name) => /^ppt\/[\w/.-]+\.(xml|rels)$/i.test(name));
  const presentation = 'ppt/presentation.xml';
  if (!entries[presentation]) throw new UnreadableDocument('the PPTX file contains no presentation');
  const targets = await relationsOf(entries, presentation);
  const slides = new Set<string>();
  readXml(await xmlTextOf(entries[presentation]), {
    open(name, attributes) {
      const target = name === 'sldId' ? targets.get(attributes['r:id'] ?? '') : undefined;
      if (target !== undefined) slides.add(target.path);
    },
  });
  if (slides.size > extractionLimits.pages)
    throw new UnreadableDocument(`the PPTX file has more than ${extractionLimits.pages} slides`);
  const sections: Section[] = [];
  const readNotes = new Set<string>();
  for (const slide of slides) {
    const { title, text } = textOfSlide(await xmlTextOf(entries[slide]));
    const spoken: string[] = [];
    for (const { type, path } of (await relationsOf(entries, slide)).values()) {
      if (!type.endsWith('/notesSlide') || readNotes.has(path)) continue;
      readNotes.add(path);
      spoken.push(textOfSlide(await xmlTextOf(entries[path])).text);
    }
    const heading = title === '' ? null : title.slice(0, 300);
    sections.push({ heading, page: sections.length + 1, text: [text, ...spoken].join('\n\n'), overlap: true });
  }
  return sections;
}

/** Placeholders whose text repeats on each slide. */
const repeated = new Set(['sldNum', 'dt', 'ftr', 'hdr']);

/** The paragraphs of a slide, with one line for each row of a table. */
function textOfSlide(xml: string): { title: string; text: string } {
  const shapes: { type: string; text: string }[] = [];
  let [type, text, isText, cells] = ['', '', false, 0];
  readXml(xml, {
    open(name, attributes) {
      if (name === 'sp' || name === 'graphicFrame') [type, text] = ['', ''];
      if (name === 'ph') type = attributes.type ?? 'body';
      if (name === 't') isText = true;
      if (name === 'br') text += '\n';
      if (name === 'tr') cells = 0;
      if (name === 'tc' && (cells += 1) > 1) text += ' | ';
    },
    text(part) {
      if (isText) text += part;
    },
    close(name) {
      if (name === 't') isText = false;
      if (name === 'tr' || (name === 'p' && cells === 0)) text += '\n';
      if (name === 'tbl') cells = 0;
      if (name === 'sp' || name === 'graphicFrame') {
        if (!repeated.has(type) && text.trim() !== '') shapes.push({ type, text: text.trim() });
        text = '';
      }
    },
  });
  const title = shapes.find((shape) => shape.type === 'title' || shape.type === 'ctrTitle');
  return { title: title?.text.replace(/\s+/g, ' ') ?? '', text: shapes.map((shape) => shape.text).join('\n\n') };
}

interface Relation {
  type: string;
  path: string;
}

/** The targets of the relationships of a part of the package (ECMA-376-2), by id. */
async function relationsOf(entries: Entries, part: string): Promise<Map<string, Relation>> {
  const relations = new Map<string, Relation>();
  const [folder, file] = [part.slice(0, part.lastIndexOf('/') + 1), part.slice(part.lastIndexOf('/') + 1)];
  readXml(await xmlTextOf(entries[`${folder}_rels/${file}.rels`]), {
    open(name, { Id: id, Type: type = '', Target: target, TargetMode: mode }) {
      if (name !== 'Relationship' || id === undefined || target === undefined || mode === 'External') return;
      relations.set(id, { type, path: pathOf(folder, target) });
    },
  });
  return relations;
}

/** Resolves a path inside a ZIP file. */
export function pathOf(folder: string, target: string): string {
  const path = target.startsWith('/') ? target : `/${folder}${target}`;
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.' && part !== '') parts.push(part);
  }
  return parts.join('/');
}
