import { isJsonObject } from '../base/json.js';

/** The tags in which models write their thinking into the text. */
const names = ['think', 'thinking', 'thought', 'reasoning', 'reflection', 'seed:think'];
const tags: readonly (readonly [begin: string, end: string])[] = [
  ...names.map((name) => [`<${name}>`, `</${name}>`] as const),
  ['[think]', '[/think]'],
  ['◁think▷', '◁/think▷'],
  ['<|channel|>analysis<|message|>', '<|end|>'],
];
/** The beginning of the text after thinking, in the format of gpt-oss. */
const textTag = /^\s*(<\|start\|>assistant)?<\|channel\|>final<\|message\|>/;
/** A later block begins on a line of its own, so that a text about these tags keeps them. */
const laterBlock = new RegExp(`(?:^|\\n)[ \\t]*<(${names.join('|')})>[^]*?</\\1>[ \\t]*(?:\\n|$)`, 'gi');
const startTag = /<think(?:ing)?>/i;
const endTag = /<\/think(?:ing)?>/i;

interface Split {
  text: string;
  thinking: string;
}

/**
 * Separates thinking from the text of an answer. The templates of some models begin the thinking before the answer, so
 * only its end is in the text. A block without an end is thinking: the model has written no text.
 */
export function splitThinking(content: string): Split {
  if (!/[<[◁]/.test(content)) return { text: content, thinking: '' };
  const thoughts: string[] = [];
  let rest = content;
  for (let block = leadingBlock(rest); block; block = leadingBlock(rest)) {
    thoughts.push(block.thinking);
    rest = block.rest;
  }
  if (thoughts.length === 0) {
    const end = startTag.test(rest) ? null : endTag.exec(rest);
    if (end) {
      thoughts.push(rest.slice(0, end.index));
      rest = rest.slice(end.index + end[0].length).trimStart();
    }
  }
  const text = withoutCode(rest, (prose) =>
    prose.replace(laterBlock, (block) => {
      thoughts.push(block.replace(/<[^<>]*>/g, ''));
      return '\n';
    }),
  );
  return { text, thinking: thoughts.map((thought) => thought.trim()).join('\n\n') };
}

/** The block of thinking at the beginning of a text. */
function leadingBlock(content: string): { thinking: string; rest: string; isClosed: boolean } | undefined {
  const start = content.trimStart();
  const opening = start.slice(0, 40).toLowerCase();
  const tag = tags.find(([begin]) => opening.startsWith(begin));
  if (!tag) return undefined;
  const [begin, end] = tag;
  const inner = start.slice(begin.length);
  const at = inner.toLowerCase().indexOf(end);
  if (at < 0) return { thinking: inner, rest: '', isClosed: false };
  const rest = inner.slice(at + end.length).replace(textTag, '');
  return { thinking: inner.slice(0, at), rest: rest.trimStart(), isClosed: true };
}

/** Applies a change to the parts of a text that are not blocks of code. */
function withoutCode(text: string, change: (prose: string) => string): string {
  return text
    .split(/(^```[^]*?^```[^\n]*$)/m)
    .map((part, at) => (at % 2 === 1 ? part : change(part)))
    .join('');
}

/** Passes on the pieces of a streamed text without the thinking at its beginning. */
export function createThinkingFilter(onText: (text: string) => void): (text: string) => void {
  let held = '';
  let place: 'begin' | 'thinking' | 'text' = 'begin';
  return (piece) => {
    if (place === 'text') return onText(piece);
    held += piece;
    // Only a piece with the end of a tag can end the thinking, so the text is not scanned again for the others.
    if (place === 'thinking' && !/[>\]▷]/.test(piece)) return;
    for (let block = leadingBlock(held); block; block = leadingBlock(held)) {
      place = 'thinking';
      if (!block.isClosed) return;
      held = block.rest;
      place = 'begin';
    }
    if (mayBeginTag(held.trimStart())) return;
    place = 'text';
    onText(held);
  };
}

/** Returns whether a text may become a tag when more of it arrives. */
function mayBeginTag(text: string): boolean {
  const start = text.toLowerCase();
  return tags.some(([begin]) => begin.startsWith(start));
}

/** The fields in which endpoints send thinking beside the text. */
const thinkingFields = ['reasoning_content', 'reasoning', 'thinking', 'reasoning_text', 'thoughts'];

/** Returns the thinking in the fields of a message: the first of them that has a text. */
export function thinkingIn(fields: Record<string, unknown>): string {
  for (const field of thinkingFields) {
    const text = textIn(fields[field]);
    if (text !== '') return text;
  }
  return textIn(fields.reasoning_details) || textIn(fields.thinking_blocks);
}

/** The text of thinking in any of its forms: a text, a part, or a list of parts. */
export function textIn(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(textIn).join('');
  if (!isJsonObject(value)) return '';
  return textIn(value.text) || textIn(value.thinking) || textIn(value.summary) || textIn(value.content);
}

const thinkingParts: ReadonlySet<string> = new Set(['thinking', 'reasoning', 'thought', 'redacted_thinking']);

interface Content extends Split {
  /** Whether the content has parts other than one text. */
  hasParts: boolean;
}

/** Reads the content of a message or of a piece of one: a text, or a list of parts of which some are thinking. */
export function readContent(content: unknown): Content {
  if (typeof content === 'string') return { text: content, thinking: '', hasParts: false };
  const parts: unknown[] = Array.isArray(content) ? content : isJsonObject(content) ? [content] : [];
  let text = '';
  let thinking = '';
  for (const part of parts) {
    if (typeof part === 'string') text += part;
    else if (isJsonObject(part) && thinkingParts.has(String(part.type))) thinking += textIn(part);
    else if (isJsonObject(part) && typeof part.text === 'string') text += part.text;
  }
  return { text, thinking, hasParts: parts.length > 0 };
}
