import type { Section } from '../chunks.js';
import { UnreadableDocument } from '../limits.js';
import { fromHtml } from './html.js';
import { pathOf } from './slides.js';
import { readXml, xmlTextOf } from './xml.js';
import { unzip } from './zip.js';

/** Reads the chapters of a book in their order (EPUB 3.3, package document), by their headings. @throws UnreadableDocument */
export async function fromEpub(bytes: Uint8Array): Promise<Section[]> {
  const entries = unzip(bytes, 'EPUB', (name) => /\.(xml|opf|x?html?|xht)$/i.test(name));
  let main = '';
  readXml(await xmlTextOf(entries['META-INF/container.xml']), {
    open(name, attributes) {
      const path = pathOf('', decoded(attributes['full-path'] ?? ''));
      if (name === 'rootfile' && main === '' && entries[path]) main = path;
    },
  });
  if (!entries[main]) throw new UnreadableDocument('the EPUB file contains no package document');
  const folder = main.slice(0, main.lastIndexOf('/') + 1);
  const [items, chapters] = [new Map<string, string>(), [] as string[]];
  readXml(await xmlTextOf(entries[main]), {
    open(name, { id, href, idref }) {
      if (name === 'item' && id !== undefined && href !== undefined) items.set(id, pathOf(folder, decoded(href)));
      if (name === 'itemref' && idref !== undefined) chapters.push(idref);
    },
  });
  const sections: Section[] = [];
  // A book without a reading order still has its chapters.
  const paths = chapters.length > 0 ? chapters.map((chapter) => items.get(chapter) ?? '') : [...items.values()];
  for (const path of new Set(paths)) {
    if (/\.(x?html?|xht|xml)$/i.test(path)) sections.push(...fromHtml(await xmlTextOf(entries[path])));
  }
  return sections;
}

function decoded(href: string): string {
  try {
    return decodeURIComponent(href);
  } catch {
    return href;
  }
}
