import type { Address, Email } from 'postal-mime';
import type { Section } from '../chunks.js';
import { reasonOf, UnreadableDocument } from '../limits.js';
import { fromHtml } from './html.js';

const limits = { maxNestingDepth: 50, maxHeadersSize: 1024 * 1024 };

/** Reads the header, the text and the names of the attachments of a mail (RFC 5322). @throws UnreadableDocument */
export async function fromMail(bytes: Uint8Array): Promise<Section[]> {
  const { default: PostalMime } = await import('postal-mime');
  const mail = await PostalMime.parse(bytes, limits).catch((error: unknown) => {
    throw new UnreadableDocument(`the mail cannot be read: ${reasonOf(error)}`);
  });
  const heading = mail.subject?.slice(0, 300) || null;
  const body = textOf(mail);
  const attachments = mail.attachments.map(({ filename, mimeType }) => `Attachment: ${filename || mimeType}`);
  const text = [headerOf(mail), ...body, attachments.join('\n')].filter(Boolean).join('\n\n');
  return [{ heading, page: null, text, overlap: true }];
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
