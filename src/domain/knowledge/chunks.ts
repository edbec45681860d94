import { cutPosition } from '../../base/text.js';

/** A section of a document. `page` counts from 1. */
export interface Section {
  heading: string | null;
  page: number | null;
  /** Paragraphs, separated by empty lines. */
  text: string;
  /** Whether a chunk repeats the end of the previous one. False for tables, whose rows are independent. */
  overlap: boolean;
}

export interface Chunk {
  heading: string | null;
  page: number | null;
  text: string;
}

/** The maximum number of characters of a chunk. */
export const chunkSize = 1000;
export const overlapSize = 150;

/** Splits sections at paragraphs, and long paragraphs at sentences or words. The result is deterministic. */
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
      const at = cutPosition(rest, chunkSize - overlapSize);
      yield rest.slice(0, at).trim();
      rest = rest.slice(at).trim();
    }
    if (rest !== '') yield rest;
  }
}

function tailOf(text: string): string {
  const tail = text.slice(-overlapSize);
  const word = tail.search(/\s/);
  return word === -1 ? '' : tail.slice(word).trim();
}
