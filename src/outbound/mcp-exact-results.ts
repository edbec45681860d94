import { isDeepStrictEqual } from 'node:util';
import { ReadBuffer } from '@modelcontextprotocol/client';
import { isJsonObject, parseJson, withNumbersKept } from '../json.js';

/** A session makes one call. A server can send more results, but not to be kept. */
const maxKept = 10;

export type ExactResults = ReturnType<typeof createExactResults>;

/** Keeps the structured contents whose numbers the library rounds when it parses a message. */
export function createExactResults() {
  const kept: { rounded: unknown; exact: unknown }[] = [];
  return {
    /** Receives each message as the server sent it. */
    read(text: string): void {
      // Most messages have no such numbers, and comparing deeply nested values would exceed the stack.
      if (withNumbersKept(text) === text) return;
      const rounded = contentsIn(text, JSON.parse);
      for (const [at, exact] of contentsIn(text, parseJson).entries()) kept.push({ rounded: rounded[at], exact });
      kept.splice(0, kept.length - maxKept);
    },
    /** The content that the library parsed, with the numbers as `parseJson` keeps them. */
    exactly(content: unknown): unknown {
      return kept.find(({ rounded }) => isSame(rounded, content))?.exact ?? content;
    },
  };
}

/** Values that are nested too deeply to be compared are refused later, because they cannot be stored either. */
function isSame(one: unknown, other: unknown): boolean {
  try {
    return isDeepStrictEqual(one, other);
  } catch {
    return false;
  }
}

function contentsIn(text: string, parse: (text: string) => unknown): unknown[] {
  try {
    return [parse(text)].flat().flatMap((message) => {
      const result = isJsonObject(message) ? message.result : undefined;
      return isJsonObject(result) && result.structuredContent !== undefined ? [result.structuredContent] : [];
    });
  } catch {
    return [];
  }
}

/** Reads the messages of a process, and passes each line to `read` before the library parses it. */
export class ExactReadBuffer extends ReadBuffer {
  private line: Buffer[] = [];

  constructor(
    maxBufferSize: number,
    private readonly read: (text: string) => void,
  ) {
    super({ maxBufferSize });
  }

  override append(chunk: Buffer): void {
    super.append(chunk);
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      this.read(Buffer.concat([...this.line, chunk.subarray(from, end)]).toString('utf8'));
      this.line = [];
      from = end + 1;
    }
    if (from < chunk.length) this.line.push(chunk.subarray(from));
  }
}
