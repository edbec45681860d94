import { isJsonObject, parseJsonOrUndefined, withNumbersKept, type JsonObject } from '../base/json.js';
import { readableText, readCallResult, type McpCallResult } from './mcp-call-result.js';
import { OutboundError } from './outbound-error.js';
import { readTool, type ListedTool } from './mcp-listed-tool.js';
import { withoutNulls, withoutNullsInside } from './without-nulls.js';

/** The maximum size of all pages of the lists of tools in a session. Everything in them is hashed and compared. */
const maxListBytes = 1024 * 1024;

export type McpReader = ReturnType<typeof createMcpReader>;

/** A message as a server sent it. */
export interface McpMessage {
  /** With large numbers as text (`parseJson`). Undefined if the text is not JSON. */
  exact: unknown;
  /** With the numbers that JavaScript makes of them. */
  rounded: unknown;
  /** The length of the text. */
  size: number;
}

export function parseMessage(text: string): McpMessage {
  const exact = parseJsonOrUndefined(text);
  const isRounded = exact !== undefined && withNumbersKept(text) !== text;
  return { exact, rounded: isRounded ? JSON.parse(text) : exact, size: text.length };
}

/**
 * Reads the messages of an MCP server before the library does, because the library refuses a whole list for one odd tool
 * and a whole result for one odd part. The library receives the messages in a form that it accepts. What they say about
 * tools and results is kept here.
 */
export function createMcpReader() {
  const methods = new Map<string, string>();
  let tools: ListedTool[] = [];
  let listedBytes = 0;
  let result: McpCallResult | undefined;
  let structureToCheck: unknown;
  let resources: unknown[] = [];

  function readResult(method: string | undefined, value: JsonObject, { rounded, size }: McpMessage): JsonObject {
    const members = withoutNulls(value);
    if (method === 'initialize' || method === 'server/discover') return withoutNullsInside(value);
    if (method === 'tools/list') {
      listedBytes += size;
      if (listedBytes > maxListBytes) throw tooLong();
      const listed = value.tools === null ? [] : members.tools;
      if (!Array.isArray(listed)) return members;
      const read = listed.map((each, at) => readTool(each, tools.length + at + 1));
      tools.push(...read);
      return { ...pageOf(members), tools: read.filter(({ problems }) => !problems).map(shellOf) };
    }
    if ((method === 'tools/call' && isComplete(members)) || method === 'tasks/result') {
      result = readCallResult(members);
      structureToCheck = structureOf(rounded);
      const { resultType = 'complete' } = members;
      return { resultType, content: [], ...(result.isError === true && { isError: true }) };
    }
    if (method === 'resources/read') {
      resources = Array.isArray(members.contents) ? members.contents : [];
      return { ...pageOf(members), contents: [] };
    }
    return members;
  }

  return {
    /** Must be called with each message before it is sent. */
    sent(message: JsonObject): void {
      if (message.id !== undefined && typeof message.method === 'string')
        methods.set(idText(message.id), message.method);
    },
    /** Returns whether the request is still to be answered. */
    awaits: (id: unknown): boolean => methods.has(idText(id)),
    /**
     * Returns a message in a form that the library accepts.
     * @throws OutboundError `too_large` for lists of tools that are too large
     */
    received(message: McpMessage): unknown {
      if (!isJsonObject(message.exact)) return message.exact;
      const { method, id, params, error, result: value } = withoutNulls(message.exact);
      const head = { jsonrpc: '2.0', ...(id !== undefined && { id }) };
      if (method !== undefined)
        return {
          ...head,
          method,
          ...(params !== undefined && { params: isJsonObject(params) ? withoutNulls(params) : params }),
        };
      const asked = methods.get(idText(id));
      methods.delete(idText(id));
      if (error !== undefined) return { ...head, error: readError(error) };
      return { ...head, result: isJsonObject(value) ? readResult(asked, value, message) : (value ?? {}) };
    },
    /** Forgets the tools of the last list. */
    beginList: () => void (tools = []),
    /** Returns all tools of the list, in order. */
    tools: (): readonly ListedTool[] => tools,
    /** Returns the result of the last call. */
    result: (): McpCallResult | undefined => result,
    /** Returns its structured content as the output schema must describe it: a number that is kept as text is a number. */
    structureToCheck: (): unknown => structureToCheck,
    /** Returns the contents of the last resource that was read. */
    resources: (): readonly unknown[] => resources,
  };
}

function structureOf(message: unknown): unknown {
  const result = isJsonObject(message) ? message.result : undefined;
  return isJsonObject(result) ? result.structuredContent : undefined;
}

/** The id of a request as text. Some servers send a number back as a string. */
export function idText(id: unknown): string {
  return typeof id === 'string' || typeof id === 'number' ? String(id) : '';
}

/** The members of a page of a list, or of a resource. Fields that revision 2026-07-28 requires get a value if the server omits them. */
function pageOf({ nextCursor, ttlMs, cacheScope, resultType, _meta }: JsonObject): JsonObject {
  return {
    resultType: resultType ?? 'complete',
    ttlMs: Number.isSafeInteger(ttlMs) && Number(ttlMs) >= 0 ? ttlMs : 0,
    cacheScope: cacheScope === 'public' ? 'public' : 'private',
    ...(nextCursor !== undefined && { nextCursor: typeof nextCursor === 'number' ? String(nextCursor) : nextCursor }),
    ...(isJsonObject(_meta) && { _meta }),
  };
}

/** What the library needs to know about a tool: its name, and which arguments are also sent as headers. */
function shellOf({ name, inputSchema }: ListedTool): JsonObject {
  return { name, inputSchema };
}

/** A result that is neither a task nor a question of the server. */
function isComplete({ task, resultType }: JsonObject): boolean {
  return !isJsonObject(task) && (resultType === undefined || resultType === 'complete');
}

/** An error as JSON-RPC defines it, with the text of the server in whatever form it was sent. */
function readError(error: unknown): JsonObject {
  if (!isJsonObject(error)) return { code: -32_603, message: readableText(error) };
  const { code, message, data } = withoutNulls(error);
  return {
    code: Number.isSafeInteger(code) ? code : -32_603,
    message: message === undefined ? readableText(error) : readableText(message),
    ...(data !== undefined && { data }),
  };
}

const tooLong = () =>
  new OutboundError('too_large', `the tools of the MCP server are larger than ${maxListBytes} bytes in total`);
