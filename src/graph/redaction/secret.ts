import { lintSource } from '@secretlint/core';
import { creator as recommended } from '@secretlint/secretlint-rule-preset-recommend';
import type { Hints } from './hints.js';
import { matches, uuid, type Span } from './span.js';

/** Matches credentials of this product, and those that the rules of secretlint do not find or find only by context. */
const ownForms: readonly RegExp[] = [
  /(?<![\p{L}\p{N}])svc_(?:sk|srt|srt2|at)_[\w-]{8,}/gu,
  /(?<![\w-])ey[\w-]{10,}\.ey[\w-]{6,}\.[\w-]{10,}/g,
  /-----BEGIN [A-Z0-9 ]{0,40}(?:PRIVATE KEY|CERTIFICATE)[A-Z ]{0,20}-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,60}-----|$)/g,
  /(?<![A-Z0-9])(?:AKIA|ASIA|ABIA|ACCA|AGPA|AIDA|AROA)[A-Z2-7]{16}(?![A-Z0-9])/g,
  /(?<![\w-])(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{22,}|glpat-[\w-]{20,}|xox[abeoprs]-[\w-]{10,}|AIza[\w-]{35}|(?:sk|rk|pk)_(?:live|test)_\w{16,}|sk-(?:proj-|ant-)?[\w-]{20,}|npm_[A-Za-z0-9]{30,}|SG\.[\w-]{16,}\.[\w-]{16,}|hf_[A-Za-z0-9]{30,}|dop_v1_[a-f0-9]{60,}|ya29\.[\w-]{20,})/g,
  /(?<=\bBearer\s{1,3})[\w\-.~+/]{16,}=*/gi,
  /(?<=(?:password|passwd|pwd|secret|api[_-]?key|access[_-]?key|auth[_-]?token|access[_-]?token|private[_-]?key)["']?\s{0,3}[:=]\s{0,3}["']?)[^\s"',;]{6,}/gi,
  /(?<=:\/\/[^\s:/@]{1,100}:)[^\s:/@]{3,200}(?=@)/g,
];

/** Matches a part of every match of `ownForms`. */
const mayHoldForm = /svc_|xox|-----BEGIN|bearer|passw|pwd|secret|key|token|:\/\/|[\w\-+/.]{16}/i;

/** Finds credentials by their published forms. The value of a property with the name of a credential also counts as one. */
export function findSecrets(text: string, hints: Hints): Span[] {
  if (hints.secret && /^\S{6,}$/.test(text)) return [{ start: 0, end: text.length, label: 'secret' }];
  return !mayHoldForm.test(text) ? [] : ownForms.flatMap((pattern) => matches(text, pattern, 'secret'));
}

const mayHoldSecret = /[\w\-+/.]{20}|:\/\/|KEY-/;
const config = { rules: [{ id: recommended.meta.id, rule: recommended }] };
const chunkLength = 32_768;

/** Returns whether a text may contain a long token. Most responses do not, so the rules need not run. */
export function needsLint(text: string): boolean {
  return text.length >= 16 && mayHoldSecret.test(text.replace(uuid, ' '));
}

/**
 * Runs secretlint's recommended rules on each text. Joins texts into chunks, because each run has a high fixed cost.
 * Extends a finding to the whole token, because some rules report only the position of a name.
 */
export async function lintSecrets(texts: readonly string[]): Promise<Map<string, Span[]>> {
  const found = new Map<string, Span[]>();
  for (const chunk of chunksOf(texts)) {
    const content = chunk.join('\n\n');
    const { messages } = await lintSource({
      source: { filePath: '/answer.txt', content, ext: '.txt', contentType: 'text' },
      options: { config, noPhysicFilePath: true },
    });
    if (messages.length === 0) continue;
    let offset = 0;
    for (const text of chunk) {
      const end = offset + text.length;
      const inside = messages.filter(({ range }) => range[0] < end && range[1] > offset);
      if (inside.length > 0)
        found.set(
          text,
          inside.map(({ range }) => widened(text, range[0] - offset, range[1] - offset)),
        );
      offset = end + 2;
    }
  }
  return found;
}

function widened(text: string, from: number, to: number): Span {
  let start = Math.max(0, from);
  let end = Math.min(text.length, to);
  while (start > 0 && /\S/.test(text.charAt(start - 1))) start -= 1;
  while (end < text.length && /\S/.test(text.charAt(end))) end += 1;
  return { start, end, label: 'secret' };
}

function chunksOf(texts: readonly string[]): string[][] {
  const chunks: string[][] = [];
  let length = Infinity;
  for (const text of texts) {
    if (length + text.length > chunkLength) {
      chunks.push([]);
      length = 0;
    }
    chunks.at(-1)?.push(text);
    length += text.length;
  }
  return chunks;
}
