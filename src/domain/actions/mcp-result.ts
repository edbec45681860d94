import { isDeepStrictEqual } from 'node:util';
import { redactText } from '../../graph/redaction/redact-text.js';
import { parseJsonOrUndefined, type JsonObject } from '../../base/json.js';
import { readableText, type McpCallResult, type McpContent } from '../../outbound/mcp-call-result.js';
import { OutboundError } from '../../outbound/outbound-error.js';
import type { DescribedFile } from './result-files.js';

const maxExcerptLength = 400;
const maxFiles = 20;

/**
 * Converts the result of a tool, whose files are not stored yet. `value` has the members `text`, `structured` and
 * `content` (resources, links, images and audio) that are not empty.
 * @throws OutboundError `action_refused` for a result that reports an error, with an excerpt of its text
 */
export function readMcpResult(
  action: string,
  { content, structuredContent, isError }: McpCallResult,
): { value: JsonObject; files: DescribedFile[] } {
  const text = content.flatMap((each) => (each.type === 'text' ? each.text : [])).join('\n');
  if (isError === true) {
    // Some servers describe an error only in other parts of the result.
    const described = text !== '' ? text : readableText(structuredContent ?? content);
    const excerpt = redactText(described.slice(0, maxExcerptLength * 2)).slice(0, maxExcerptLength);
    throw new OutboundError('action_refused', `the tool of "${action}" reports an error: ${excerpt}`);
  }
  const isRepeated =
    structuredContent !== undefined && isDeepStrictEqual(parseJsonOrUndefined(text), structuredContent);
  const others = content.flatMap((each) => (each.type === 'text' ? [] : [otherContent(each)]));
  const value = {
    ...(text !== '' && !isRepeated && { text }),
    ...(structuredContent !== undefined && { structured: structuredContent }),
    ...(others.length > 0 && { content: others.map(({ shownAs }) => shownAs) }),
  };
  const files = others.flatMap(({ shownAs, bytes }, at) =>
    bytes === undefined
      ? []
      : [{ shownAs, name: fileName(action, at, shownAs), content: Buffer.from(bytes, 'base64') }],
  );
  for (const { shownAs } of files.slice(maxFiles))
    shownAs.file_error = `at most ${maxFiles} files of a result are stored`;
  return { value, files: files.slice(0, maxFiles) };
}

/** The last part of the URI of a resource, or otherwise the name of the action with a number. */
function fileName(action: string, at: number, { uri, mime_type }: Record<string, unknown>): string {
  const address = typeof uri === 'string' && URL.canParse(uri) ? new URL(uri).pathname.split('/').at(-1) : undefined;
  if (address) return decoded(address);
  const ending = /^[a-z]+\/([a-z0-9]{1,10})(?:$|[+;])/i.exec(String(mime_type))?.[1] ?? 'bin';
  return `${action}-${at + 1}.${ending}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

type Content = Exclude<McpContent, { type: 'text' }>;

/** A content as it is shown, and its bytes in base64. */
interface Other {
  shownAs: Record<string, unknown>;
  bytes?: string;
}

function otherContent(content: Content): Other {
  switch (content.type) {
    case 'image':
    case 'audio':
      return {
        shownAs: { type: content.type, mime_type: content.mimeType, size_bytes: sizeOf(content.data) },
        bytes: content.data,
      };
    case 'resource': {
      const { uri, mimeType } = content.resource;
      const known = { type: 'resource', uri, ...(mimeType !== undefined && { mime_type: mimeType }) };
      if ('text' in content.resource) return { shownAs: { ...known, text: content.resource.text } };
      const { blob } = content.resource;
      return { shownAs: { ...known, size_bytes: sizeOf(blob) }, bytes: blob };
    }
    case 'resource_link': {
      const { uri, name, title, description, mimeType: mime_type, size, annotations } = content;
      const known = { name, title, description, mime_type, size, annotations };
      const given = Object.fromEntries(
        Object.entries(known).filter(([, value]) => value !== undefined && value !== ''),
      );
      return { shownAs: { type: 'resource_link', uri, ...given } };
    }
  }
}

function sizeOf(base64: string): number {
  return Buffer.byteLength(base64, 'base64');
}
