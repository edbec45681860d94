import type { Address, Attachment, Email } from 'postal-mime';
import { bytesOfWestern, decodeDeclared, decodeText } from '../../../base/encodings.js';
import type { Section } from '../chunks.js';
import { reasonOf, UnreadableDocument } from '../limits.js';
import { fromHtml } from './html.js';

const limits = { maxNestingDepth: 50, maxHeadersSize: 1024 * 1024 };
const maxAttachedMails = 20;

/**
 * Reads the header, the text and the names of the attachments of a mail (RFC 5322), and the text of reports about its
 * delivery and of mails in it. @throws UnreadableDocument
 */
export async function fromMail(bytes: Uint8Array): Promise<Section[]> {
  const left = { mails: maxAttachedMails };
  return [await sectionOf(bytes, left)];
}

async function sectionOf(bytes: Uint8Array, left: { mails: number }): Promise<Section> {
  const { default: PostalMime } = await import('postal-mime');
  const mail = await PostalMime.parse(bytes, limits).catch((error: unknown) => {
    throw new UnreadableDocument(`the mail cannot be read: ${reasonOf(error)}`);
  });
  const heading = mail.subject?.slice(0, 300) || null;
  const body = textOf(mail).map(asUtf8);
  const attachments = mail.attachments.map(({ filename, mimeType }) => `Attachment: ${filename || mimeType}`);
  const reports: string[] = [];
  for (const attachment of mail.attachments) reports.push(await reportOf(attachment, left));
  const text = [headerOf(mail), ...body, attachments.join('\n'), ...reports].filter(Boolean).join('\n\n');
  return { heading, page: null, text, overlap: true };
}

/** The text of a part that a mail server adds to a report about the delivery of a mail (RFC 3464). */
async function reportOf({ mimeType, content }: Attachment, left: { mails: number }): Promise<string> {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : new Uint8Array(content);
  if (/^(message\/(delivery-status|feedback-report)|text\/rfc822-headers)$/.test(mimeType))
    return (await decodeText(bytes))?.text.trim() ?? '';
  if (mimeType !== 'message/rfc822' || left.mails === 0) return '';
  left.mails -= 1;
  const { text } = await sectionOf(bytes, left);
  return text === '' ? ((await decodeText(bytes))?.text.trim() ?? '') : text;
}

/** Text in UTF-8 that names another charset shows each byte as a character. */
function asUtf8(text: string): string {
  const bytes = /[\x80-\xFF]/.test(text) ? bytesOfWestern(text) : undefined;
  return (bytes && decodeDeclared(bytes, { canNameCharset: false })?.text) ?? text;
}

function headerOf({ subject, from, to, cc, date }: Email): string {
  const lines: [string, string | undefined][] = [
    ['Subject', subject],
    ['From', from && namesOf([from])],
    ['To', to && namesOf(to)],
    ['Cc', cc && namesOf(cc)],
    ['Date', date],
  ];
  return lines.flatMap(([name, value]) => (value ? [`${name}: ${value}`] : [])).join('\n');
}

function namesOf(addresses: readonly Address[]): string {
  return addresses
    .map(({ name, address, group }) =>
      group ? `${name}: ${namesOf(group)}` : [name, address && `<${address}>`].filter(Boolean).join(' '),
    )
    .join(', ');
}

/** Most mails contain the same text twice: as plain text and as HTML. */
function textOf({ text, html }: Email): string[] {
  if (text?.trim()) return [text];
  return html ? fromHtml(html).map((section) => section.text) : [];
}
