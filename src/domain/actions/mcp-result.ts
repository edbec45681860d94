import type { CallToolResult } from '@modelcontextprotocol/client';
import { redactText } from '../../graph/redaction/redact-text.js';
import { canonicalText, parseJsonOrUndefined } from '../../json.js';
import { OutboundError } from '../../outbound/outbound-error.js';

const maxExcerptLength = 400;

/** The result of a tool as an agent gets it. Members without content are absent. */
export interface McpResult {
  text?: string;
  structured?: unknown;
  /** Resources, links, images and audio. Bytes are not kept; their size and type are. */
  content?: Record<string, unknown>[];
}

/**
 * Converts the result of a tool.
 * @throws OutboundError `action_refused` for a result that reports an error, with an excerpt of its text
 */
export function readMcpResult(action: string, { content, structuredContent, isError }: CallToolResult): McpResult {
  const text = content.flatMap((each) => (each.type === 'text' ? each.text : [])).join('\n');
  if (isError === true) {
    const excerpt = redactText(text.slice(0, maxExcerptLength * 2)).slice(0, maxExcerptLength);
    throw new OutboundError('action_refused', `the tool of "${action}" reports an error: ${excerpt}`);
  }
  const isRepeated =
    structuredContent !== undefined && canonicalText(parseJsonOrUndefined(text)) === canonicalText(structuredContent);
  const others = content.flatMap((each) => (each.type === 'text' ? [] : [otherContent(each)]));
  return {
    ...(text !== '' && !isRepeated && { text }),
    ...(structuredContent !== undefined && { structured: structuredContent }),
    ...(others.length > 0 && { content: others }),
  };
}

type Content = Exclude<CallToolResult['content'][number], { type: 'text' }>;

function otherContent(content: Content): Record<string, unknown> {
  switch (content.type) {
    case 'image':
    case 'audio':
      return { type: content.type, mime_type: content.mimeType, size_bytes: sizeOf(content.data) };
    case 'resource': {
      const { uri, mimeType } = content.resource;
      const body =
        'text' in content.resource ? { text: content.resource.text } : { size_bytes: sizeOf(content.resource.blob) };
      return { type: 'resource', uri, ...(mimeType !== undefined && { mime_type: mimeType }), ...body };
    }
    case 'resource_link': {
      const { uri, name, description, mimeType } = content;
      const known = { name, description, mime_type: mimeType };
      return { type: 'resource_link', uri, ...Object.fromEntries(Object.entries(known).filter(([, value]) => value)) };
    }
    default:
      return { type: 'unknown' };
  }
}

function sizeOf(base64: string): number {
  return Buffer.byteLength(base64, 'base64');
}
