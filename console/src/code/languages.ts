import { json } from '@codemirror/lang-json';
import { StreamLanguage, type StringStream } from '@codemirror/language';
import type { Extension } from '@codemirror/state';

const words: readonly (readonly [pattern: RegExp, style: string])[] = [
  [/^\/\/.*/, 'comment'],
  [/^"(?:[^"\\]|\\.)*"?/, 'string'],
  [/^-?\d+/, 'number'],
  [/^(?:if|then|else|in|has|like|is|true|false)\b/, 'keyword'],
  [/^(?:principal|action|resource|context)\b/, 'variableName'],
  [/^[A-Z]\w*(?=::)/, 'typeName'],
  [/^\w+(?=\()/, 'propertyName'],
  [/^\w+/, 'name'],
];

function token(stream: StringStream): string | null {
  for (const [pattern, style] of words) if (stream.match(pattern)) return style;
  stream.next();
  return null;
}

export type Language = 'cedar' | 'json';

const cedar = StreamLanguage.define({ name: 'cedar', token });

export const languageOf = (language: Language): Extension => (language === 'json' ? json() : cedar);
