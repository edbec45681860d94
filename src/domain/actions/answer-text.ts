import { charsetOf, decodeDeclared } from '../../base/encodings.js';
import type { HttpResponse } from '../../outbound/http-client.js';

type Answer = Pick<HttpResponse, 'headers' | 'body'>;

/** Formats that are text by definition. Their servers may omit the charset. */
const textual =
  /^(text\/|application\/(?:[\w.+-]+\+)?(json|xml|javascript|x-ndjson|x-www-form-urlencoded|yaml|graphql)\b)/i;

/**
 * Returns the text of an answer in the charset that it names, in UTF-8 or in the encoding of its byte order mark. The
 * old default of text is windows-1252 (Encoding Standard). Returns undefined for bytes that are not text.
 */
export function textOfAnswer({ headers, body }: Answer): string | undefined {
  const type = contentTypeOf(headers);
  const isTextual = textual.test(type);
  const declared = decodeDeclared(body, { charset: charsetOf(type), canNameCharset: isTextual });
  if (declared) return declared.text.includes('\0') && !isTextual ? undefined : declared.text;
  return isTextual ? decodeDeclared(body, { charset: 'windows-1252' })?.text : undefined;
}

export function contentTypeOf(headers: HttpResponse['headers']): string {
  return String(headers['content-type'] ?? '');
}
