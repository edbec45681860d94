import { domainToUnicode } from 'node:url';
import { z } from 'zod';
import { MailConfig } from '../connectors/rules/config.js';
import { operations } from '../connectors/rules/named-operations.js';
import { AppError } from '../../base/errors.js';
import type { SmtpServer } from '../../outbound/smtp-client.js';
import type { ActionExecutor } from './action-call.js';
import { inputOf } from './action-fields.js';
import { sha256Hex } from '../../base/hash.js';

const timeoutMs = 100_000;
const address = /^(?!\.)[^\s"\\<>()[\]:,;@\p{Cc}]+@[\p{L}\p{M}\p{N}_-]+(\.[\p{L}\p{M}\p{N}_-]+)*$/u;
const named = /^(?:"[^"\\<>,;\p{Cc}]*"\s*|[^"\\<>():,;\p{Cc}]*)<([^<>]*)>$/u;

/**
 * The address in `a@example.com` or `Name <a@example.com>`. Every other form is refused: a mail client could read another
 * address in it than rules see.
 */
function addressIn(text: string): string | undefined {
  const found = named.exec(text)?.[1] ?? text;
  return address.test(found) ? found : undefined;
}

const Addresses = z
  .union([z.string().transform((text) => text.split(',')), z.array(z.string())])
  .transform((list) => list.map((each) => each.trim()).filter((each) => each !== ''))
  .pipe(
    z
      .array(
        z
          .string()
          .max(320)
          .refine((text) => addressIn(text) !== undefined, 'is not an email address'),
      )
      .max(100),
  );
const Letter = z.object({
  to: Addresses.pipe(z.array(z.string()).min(1)),
  cc: Addresses.default([]),
  bcc: Addresses.default([]),
  subject: z.string().max(2000).default(''),
  text: z.string().optional(),
  html: z.string().optional(),
});

/**
 * Sends an email over the connector's SMTP server. The Message-ID derives from the idempotency key, so that duplicates
 * can be detected.
 */
export const mail: ActionExecutor = ({ smtp }, { request, connector, signal }) => {
  const { action, idempotency_key } = request;
  const config = MailConfig.safeParse(connector?.config).data;
  const from = config?.from;
  if (config?.host === undefined || from === undefined)
    throw new AppError(
      'unconfigured',
      `the action "${action.name}" needs a connector with the host and from of a mail server`,
    );
  const letter = Letter.safeParse(inputOf(request, operations.mail.send?.fields));
  if (!letter.success) {
    const [issue] = letter.error.issues;
    throw new AppError(
      'validation_failed',
      `the field "${issue?.path[0]?.toString() ?? 'to'}" in the input of "${action.name}": ${issue?.message ?? 'is invalid'}`,
    );
  }
  const { text, html, ...rest } = letter.data;
  const messageId = `<${sha256Hex(idempotency_key).slice(0, 40)}@${domainOf(from)}>`;
  const server = serverOf(config, config.host);
  const { host, port, secure, requireTls: require_tls } = server;
  const input = { ...rest, ...(text !== undefined && { text }), ...(html !== undefined && { html }) };
  return {
    ...{ host, method: 'SEND', path: '', input },
    exact: { server: host, port, secure, require_tls, from, ...input },
    isRepeatable: false,
    annotations: { read_only: false, destructive: false, open_world: true },
    facts: { recipients: recipientsOf(rest) },
    send: async () => ({
      value: await smtp.send(server, { messageId, from, ...rest, text, html }, { timeoutMs, signal }),
      secrets: config.password === undefined ? [] : [config.password],
    }),
  };
};

/** Addresses in lower case without display names, and with domains in Unicode, because rules compare texts. */
function recipientsOf({ to, cc, bcc }: Pick<z.output<typeof Letter>, 'to' | 'cc' | 'bcc'>): string[] {
  return [...to, ...cc, ...bcc].map((each) => {
    const [user = '', domain = ''] = (addressIn(each) ?? each).toLowerCase().split('@');
    return `${user}@${domainToUnicode(domain) || domain}`;
  });
}

function serverOf({ port, secure, require_tls, user, password }: MailConfig, host: string): SmtpServer {
  const credentials = user === undefined || password === undefined ? undefined : { user, password };
  return {
    host,
    secure,
    port: port ?? (secure ? 465 : 587),
    requireTls: require_tls ?? credentials !== undefined,
    credentials,
  };
}

function domainOf(from: string): string {
  return /@([A-Za-z0-9.-]+)>?\s*$/.exec(from)?.[1] ?? 'localhost';
}
