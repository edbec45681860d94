import { decodeText } from '../../decode-text.js';
import type { HttpResponse } from '../../outbound/http-client.js';

type Answer = Pick<HttpResponse, 'headers' | 'body'>;

/** Formats that are text by definition. Their servers may omit the charset. */
const textual =
  /^(text\/|application\/(?:[\w.+-]+\+)?(json|xml|javascript|x-ndjson|x-www-form-urlencoded|yaml|graphql)\b)/i;
/** Where HTML and XML name their encoding. */
const namedInside =
  /<meta[^>]{0,200}?charset ?=[ "']{0,3}([\w:.-]{1,40})|^\s{0,50}<\?xml[^>]{0,200}?encoding ?=[ "']{0,3}([\w:.-]{1,40})/i;
const searchedBytes = 1024;

/**
 * Returns the text of an answer in the charset that it names, in UTF-8 or in the encoding of its byte order mark. The
 * old default of text is windows-1252 (Encoding Standard). Returns undefined for bytes that are not text.
 */
export function textOfAnswer({ headers, body }: Answer): string | undefined {
  const type = contentTypeOf(headers);
  const named = /;\s*charset\s*=\s*["']?([^"';\s]{1,40})/i.exec(type)?.[1];
  const text = (named && decodedAs(named, body)) ?? decodedAs(undefined, body);
  if (text !== undefined) return text.includes('\0') && !textual.test(type) ? undefined : text;
  if (!textual.test(type)) return undefined;
  const start = body.subarray(0, searchedBytes).toString('latin1');
  const [, inHtml, inXml] = namedInside.exec(start) ?? [];
  return decodedAs(inHtml ?? inXml ?? 'windows-1252', body);
}

export function contentTypeOf(headers: HttpResponse['headers']): string {
  return String(headers['content-type'] ?? '');
}

/** Without a label in UTF-8, or in UTF-16 with a byte order mark. */
function decodedAs(label: string | undefined, body: Buffer): string | undefined {
  try {
    return label === undefined ? decodeText(body) : new TextDecoder(label, { fatal: true }).decode(body);
  } catch {
    // A TypeError for bytes of another charset, and a RangeError for a charset that does not exist.
    return undefined;
  }
}
