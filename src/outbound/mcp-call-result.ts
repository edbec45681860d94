import { isJsonObject, type JsonObject } from '../base/json.js';
import { withoutNulls } from './without-nulls.js';

type ResourceContent = { uri: string; mimeType?: string } & ({ text: string } | { blob: string });

export type McpContent =
  | { type: 'text'; text: string }
  | { type: 'image' | 'audio'; data: string; mimeType: string }
  | { type: 'resource'; resource: ResourceContent }
  | { type: 'resource_link'; uri: string; [member: string]: unknown };

/** The result of a tool, in which every part has one of the forms that the protocol defines. */
export interface McpCallResult {
  content: McpContent[];
  structuredContent?: unknown;
  isError?: boolean;
}

const envelope: ReadonlySet<string> = new Set(['_meta', 'resultType', 'isError', 'ttlMs', 'cacheScope']);

/** Reads the result of a call. What has an unknown form is kept as readable text, because the tool has already acted. */
export function readCallResult(result: JsonObject): McpCallResult {
  const { content, structuredContent, isError } = result;
  const others = Object.entries(result).filter(([name]) => !envelope.has(name));
  const isBare = content === undefined && structuredContent === undefined && others.length > 0;
  return {
    content: isBare ? [asText(Object.fromEntries(others))] : blocksOf(content).map(readBlock),
    ...(structuredContent !== undefined && { structuredContent }),
    ...(String(isError) === 'true' && { isError: true }),
  };
}

function blocksOf(content: unknown): unknown[] {
  if (content === undefined) return [];
  return Array.isArray(content) ? (content as unknown[]) : [content];
}

function readBlock(value: unknown): McpContent {
  const block = isJsonObject(value) ? withoutNulls(value) : {};
  const { type, text, data, mimeType = 'application/octet-stream', resource, uri } = block;
  if (type === 'text' && typeof text === 'string') return { type, text };
  if ((type === 'image' || type === 'audio') && typeof data === 'string' && typeof mimeType === 'string')
    return { type, data, mimeType };
  if (type === 'resource' && isJsonObject(resource)) return resourceIn(withoutNulls(resource)) ?? asText(value);
  if (type === 'resource_link' && typeof uri === 'string') return { ...block, type, uri };
  return asText(value);
}

/** Reads a content of a resource, as it stands in the result of `resources/read`. Empty for an unknown form. */
export function readResourceContent(value: unknown): McpContent[] {
  const read = isJsonObject(value) ? resourceIn(withoutNulls(value)) : undefined;
  return read ? [read] : [];
}

function resourceIn({ uri, mimeType, text, blob }: JsonObject): McpContent | undefined {
  if (typeof uri !== 'string') return undefined;
  const known = { uri, ...(typeof mimeType === 'string' && { mimeType }) };
  if (typeof text === 'string') return { type: 'resource', resource: { ...known, text } };
  return typeof blob === 'string' ? { type: 'resource', resource: { ...known, blob } } : undefined;
}

function asText(value: unknown): McpContent {
  return { type: 'text', text: readableText(value) };
}

/** A value that a server sent, as text. */
export function readableText(value: unknown): string {
  if (typeof value === 'string') return value;
  try {
    return JSON.stringify(value);
  } catch {
    return '(a value that is nested too deeply to be shown)';
  }
}
