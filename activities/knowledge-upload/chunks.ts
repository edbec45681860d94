/** A part of a document that belongs together. `page` counts from 1. */
export interface Section {
  heading: string | null;
  page: number | null;
  /** Paragraphs apart by empty lines. */
  text: string;
  /** Of a table whose rows stand alone, chunks do not repeat the end of the one before. */
  overlap: boolean;
}

export interface Chunk {
  heading: string | null;
  page: number | null;
  text: string;
}

/** Characters of a chunk, of which the first few repeat the end of the one before in its section. */
export const chunkSize = 1000;
export const overlapSize = 150;

/** Cuts sections at paragraphs, long paragraphs at sentences or words. The same text gives the same chunks. */
export function chunksOf(sections: Iterable<Section>): Chunk[] {
  const chunks: Chunk[] = [];
  for (const { heading, page, text, overlap } of sections) {
    let current = '';
    const close = () => {
      chunks.push({ heading, page, text: current });
      current = overlap ? tailOf(current) : '';
    };
    let isFresh = true;
    for (const piece of piecesOf(text)) {
      if (!isFresh && current.length + piece.length + 2 > chunkSize) {
        close();
        isFresh = true;
      }
      current = current === '' ? piece : `${current}\n\n${piece}`;
      isFresh = false;
    }
    if (!isFresh) chunks.push({ heading, page, text: current });
  }
  return chunks;
}

function* piecesOf(text: string): Generator<string> {
  for (const paragraph of text.split(/\n[ \t]*\n/)) {
    let rest = paragraph.trim();
    while (rest.length > chunkSize) {
      const at = cutOf(rest, chunkSize - overlapSize);
      yield rest.slice(0, at).trim();
      rest = rest.slice(at).trim();
    }
    if (rest !== '') yield rest;
  }
}

/** After the last sentence, line or word that fits; in a text without any, wherever no character is halved. */
function cutOf(text: string, most: number): number {
  const head = text.slice(0, most);
  const ends = ['. ', '! ', '? ', '.\n', '\n', ' '].map((end) => head.lastIndexOf(end) + 1);
  const sentence = Math.max(...ends.slice(0, 4));
  for (const at of [sentence, ...ends.slice(4)]) if (at > most / 2) return at;
  return /[\uD800-\uDBFF]$/.test(head) ? most - 1 : most;
}

function tailOf(text: string): string {
  const tail = text.slice(-overlapSize);
  const word = tail.search(/\s/);
  return word === -1 ? '' : tail.slice(word).trim();
}
