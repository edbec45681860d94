import { abortWith } from '../base/async.js';
import type { Clock } from './deadline.js';
import { readableText, readResourceContent, type McpCallResult, type McpContent } from './mcp-call-result.js';
import type { Link } from './mcp-link.js';

/** The resources that are read after one call. */
const maxLinks = 5;
/** For all resources of a call together. */
const readMs = 10_000;
/** A result with its resources. It leaves room for what the caller adds, so that resources never make a result too large. */
const maxLength = 512 * 1024;

/**
 * Puts the resources that a result links to after their links, as the same server answers them (MCP, Tools, Resource links).
 * A link whose resource is large or cannot be read stays as it is: the tool has acted, so its result must not get lost.
 */
export async function withLinkedResources(
  { client, within, reader }: Link,
  clock: Clock,
  result: McpCallResult,
): Promise<McpCallResult> {
  const links = result.content.filter(isLink).slice(0, maxLinks);
  if (links.length === 0 || !client.getServerCapabilities()?.resources) return result;
  let left = maxLength - readableText(result).length;
  const resources = new Map<McpContent, McpContent[]>();
  const over = abortWith(within.signal);
  const timer = setTimeout(() => over.abort(), readMs);
  clock.stop();
  try {
    for (const link of links) {
      if (Number(link.size) > left) continue;
      await client.readResource({ uri: link.uri }, { ...within, signal: over.signal });
      const read = reader.resources().flatMap(readResourceContent);
      const length = lengthOf(read);
      if (length > left) continue;
      left -= length;
      resources.set(link, read);
    }
  } catch {
    // The remaining links stay as they are.
  } finally {
    clearTimeout(timer);
    clock.start();
  }
  return { ...result, content: result.content.flatMap((each) => [each, ...(resources.get(each) ?? [])]) };
}

type ResourceLink = Extract<McpContent, { type: 'resource_link' }>;

function isLink(content: McpContent): content is ResourceLink {
  return content.type === 'resource_link';
}

/** The length of the texts. Bytes become files. */
function lengthOf(contents: readonly McpContent[]): number {
  const texts = contents.filter((each) => each.type === 'resource' && 'text' in each.resource);
  return readableText(texts).length;
}
