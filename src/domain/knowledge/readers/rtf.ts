import type { Section } from '../chunks.js';
import { decodeDeclared } from '../../../base/encodings.js';
import { reasonOf, refuseBeyond, UnreadableDocument } from '../limits.js';

/** A token of the library: `{`, `}`, a control word or text. */
interface Token {
  type: 0 | 1 | 2 | 3;
  word?: string;
  param?: number;
  data?: Buffer;
}

/** What holds within a group and those in it. */
interface Group {
  isSkipped: boolean;
  isHidden: boolean;
  font: number;
  /** The number of characters for other readers that follow a character of Unicode. */
  fallbacks: number;
}

/** Groups that are not text (RTF 1.9.1). */
const skipped =
  /^(fonttbl|colortbl|stylesheet|info|pict|nonshppict|objdata|objclass|themedata|colorschememapping|latentstyles|datastore|generator|xmlnstbl|listtable|listoverridetable|rsidtbl|revtbl|fldinst|sn|sv|bkmkstart|bkmkend|filetbl|pgptbl|mmathPr)$/;
const written: Record<string, string> = {
  ...{ par: '\n\n', sect: '\n\n', page: '\n\n', line: '\n', row: '\n', '\n': '\n\n', '\r': '\n\n' },
  ...{ tab: '\t', cell: ' | ', nestcell: ' | ', nestrow: '\n', '~': '\u00A0', _: '-', '\\': '\\', '{': '{', '}': '}' },
  ...{ emdash: '—', endash: '–', lquote: '‘', rquote: '’', ldblquote: '“', rdblquote: '”', bullet: '•' },
};
/** The code page of a font by its character set. */
const pagesOfFonts: Record<number, number> = {
  ...{ 128: 932, 129: 949, 134: 936, 136: 950, 161: 1253, 162: 1254, 163: 1258 },
  ...{ 177: 1255, 178: 1256, 186: 1257, 204: 1251, 222: 874, 238: 1250 },
};
const labels: Record<number, string> = {
  ...{
    932: 'shift_jis',
    936: 'gb18030',
    949: 'euc-kr',
    950: 'big5',
    866: 'ibm866',
    65001: 'utf-8',
    10000: 'macintosh',
  },
};

/** Reads the visible text of RTF. @throws UnreadableDocument */
export async function fromRtf(bytes: Uint8Array): Promise<Section[]> {
  const { default: library } = await import('rtf-stream-parser');
  const text = createText();
  try {
    const tokens = new library.Tokenize();
    tokens.end(Buffer.from(mended(bytes), 'latin1'));
    for await (const token of tokens) text.add(token as Token);
  } catch (error) {
    if (error instanceof UnreadableDocument) throw error;
    throw new UnreadableDocument(`the RTF file cannot be read: ${reasonOf(error)}`);
  }
  return [{ heading: null, page: null, text: text.end(), overlap: true }];
}

/** Without bytes that are no hexadecimal number, about which the library writes to the log. */
function mended(bytes: Uint8Array): string {
  const rtf = Buffer.from(bytes).toString('latin1');
  for (const [, length] of rtf.matchAll(/\\bin(\d{1,12})/g)) {
    if (Number(length) > bytes.length) throw new UnreadableDocument('the RTF file cannot be read: it is not complete');
  }
  return rtf.replace(/(\\\\)|\\'(?![0-9a-f]{2})/gi, (_match, escaped?: string) => escaped ?? '  ');
}

/** Collects the text of tokens. */
function createText() {
  const groups: Group[] = [];
  let group: Group = { isSkipped: false, isHidden: false, font: -1, fallbacks: 1 };
  let [page, defaultFont, isFontTable, isOptional, toSkip] = [1252, -1, false, false, 0];
  const pages = new Map<number, number>();
  let [text, pending] = ['', [] as number[]];

  const flush = () => {
    if (pending.length > 0) text += decoded(pending, pages.get(group.font) ?? page);
    pending = [];
    refuseBeyond(text.length);
  };
  const write = (characters: string) => {
    flush();
    if (!group.isSkipped && !group.isHidden) text += characters;
  };
  const writeBytes = (data: Uint8Array) => {
    const kept = data.subarray(Math.min(toSkip, data.length));
    toSkip -= data.length - kept.length;
    if (group.isSkipped || group.isHidden) return;
    // Line ends in the file are not part of the text.
    for (const byte of kept) if (byte !== 0x0a && byte !== 0x0d) pending.push(byte);
  };
  const control = (word: string, param: number | undefined) => {
    const isOn = param !== 0;
    if (word === 'f' || word === 'deff' || word === 'plain') {
      flush();
      group.font = word === 'plain' ? defaultFont : (param ?? -1);
      if (word === 'deff') defaultFont = group.font;
    } else if (word === 'fcharset' && isFontTable) pages.set(group.font, pagesOfFonts[param ?? 0] ?? page);
    else if (word === 'ansicpg' && param) page = param;
    else if (word === 'mac') page = 10_000;
    else if (word === 'uc') group.fallbacks = Math.max(0, param ?? 1);
    else if (word === 'u') {
      write(String.fromCharCode((param ?? 0) & 0xffff));
      toSkip = group.fallbacks;
    } else if (word === 'v' || word === 'deleted' || word === 'htmlrtf') {
      flush();
      group.isHidden = isOn;
    } else if (skipped.test(word) || (isOptional && word !== 'shpinst' && word !== 'shptxt')) {
      isFontTable ||= word === 'fonttbl';
      group.isSkipped = true;
    } else if (Object.hasOwn(written, word)) write(written[word] ?? '');
  };

  return {
    add({ type, word = '', param, data }: Token): void {
      if (type === 3) writeBytes(data ?? new Uint8Array());
      else if (type === 2 && word === "'") writeBytes(data ?? new Uint8Array());
      else if (type === 2 && word === '*') isOptional = true;
      else {
        if (type !== 2) flush();
        if (type === 0) open();
        else if (type === 1) close();
        else control(word, param);
      }
      if (type !== 2 || word !== '*') isOptional = false;
    },
    end(): string {
      flush();
      return text;
    },
  };

  function open() {
    groups.push(group);
    group = { ...group };
  }

  function close() {
    group = groups.pop() ?? group;
    isFontTable &&= group.isSkipped;
    toSkip = 0;
  }
}

const western = { charset: 'windows-1252', canNameCharset: false };

function decoded(bytes: readonly number[], page: number): string {
  const content = Uint8Array.from(bytes);
  const label =
    labels[page] ?? (page >= 1250 && page <= 1258 ? `windows-${page}` : page === 874 ? 'windows-874' : undefined);
  const text = decodeDeclared(content, { ...western, charset: label }) ?? decodeDeclared(content, western);
  return text?.text ?? '';
}
