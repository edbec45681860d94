import { unzipSync, zipSync } from 'fflate';
import { extractionLimits, reasonOf, UnreadableDocument } from '../limits.js';

export type Entries = Record<string, Uint8Array>;

const { zipEntries, zipBytes } = extractionLimits;

/**
 * Unpacks the wanted entries of a ZIP file within the limits. An entry never gets more bytes than its header states.
 * @throws UnreadableDocument
 */
export function unzip(bytes: Uint8Array, format: string, isWanted: (name: string) => boolean): Entries {
  let [entries, size] = [0, 0];
  try {
    return unzipSync(bytes, {
      filter({ name, originalSize }) {
        entries += 1;
        if (entries > zipEntries)
          throw new UnreadableDocument(`the ${format} file has more than ${zipEntries} entries`);
        if (!isWanted(name)) return false;
        size += originalSize;
        if (size > zipBytes)
          throw new UnreadableDocument(`the unpacked ${format} file is larger than ${zipBytes / 1024 / 1024} MiB`);
        return true;
      },
    });
  } catch (error) {
    if (error instanceof UnreadableDocument) throw error;
    throw new UnreadableDocument(`the ${format} file cannot be read: ${reasonOf(error)}`);
  }
}

/**
 * Packs the unpacked parts of an office document again, without compression: libraries that unpack the result cannot
 * exceed the limits. `mend` may change each part. @throws UnreadableDocument for a document type definition, which could
 * contain entities
 */
export function safePackage(
  bytes: Uint8Array,
  format: string,
  mend: (name: string, content: Uint8Array) => Uint8Array = (_name, content) => content,
): { packed: Uint8Array; entries: Entries } {
  const entries = unzip(bytes, format, (name) => /\.(xml|rels)$/i.test(name) && !name.startsWith('__MACOSX/'));
  for (const [name, content] of Object.entries(entries)) {
    if (/<!DOCTYPE/i.test(startOf(content)))
      throw new UnreadableDocument(`the ${format} file contains a document type definition`);
    entries[name] = mend(name, content);
  }
  return { packed: zipSync(entries, { level: 0 }), entries };
}

/** A document type definition must precede the first element. */
function startOf(content: Uint8Array): string {
  const text = new TextDecoder('latin1').decode(content.subarray(0, 64 * 1024)).replaceAll('\0', '');
  const element = text.search(/<[A-Za-z_]/);
  return element === -1 ? text : text.slice(0, element);
}
