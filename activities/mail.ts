import { createHash } from 'node:crypto';
import { z } from 'zod';
import { MailConfig } from '../src/connectors/config.js';
import { operations } from '../src/connectors/operations.js';
import { AppError } from '../src/errors.js';
import type { SmtpServer } from '../src/outbound/smtp-client.js';
import type { ActionExecutor } from './action-call.js';
import { inputOf } from './action-fields.js';

const timeoutMs = 100_000;
const Addresses = z
  .union([z.string().transform((text) => text.split(',')), z.array(z.string())])
  .transform((list) => list.map((each) => each.trim()).filter((each) => each !== ''))
  .pipe(z.array(z.string().max(320).regex(/^[^\r\n,;]+@[^\r\n,;]+$/, 'is no mail address')).max(100));
const Letter = z.object({
  to: Addresses.pipe(z.array(z.string()).min(1)),
  cc: Addresses.default([]),
  bcc: Addresses.default([]),
  subject: z.string().max(2000).default(''),
  text: z.string().optional(),
  html: z.string().optional(),
});

/** A mail over the connector's SMTP server. Its Message-ID is made of the idempotency key, so that a repeat can be told. */
export const mail: ActionExecutor = async ({ smtp }, { request, connector, signal }) => {
  const { action, idempotency_key } = request;
  const config = MailConfig.safeParse(connector?.config).data;
  const from = config?.from;
  if (config?.host === undefined || from === undefined) throw new AppError('unconfigured', `the action "${action.name}" needs a connector with the host and from of a mail server`);
  const letter = Letter.safeParse(inputOf(request, operations.mail.send?.fields));
  if (!letter.success) {
    const [issue] = letter.error.issues;
    throw new AppError('validation_failed', `the field "${issue?.path[0]?.toString() ?? 'to'}" in the input of "${action.name}": ${issue?.message ?? 'is unusable'}`);
  }
  const { text, html, ...rest } = letter.data;
  const messageId = `<${createHash('sha256').update(idempotency_key).digest('hex').slice(0, 40)}@${domainOf(from)}>`;
  const value = await smtp.send(serverOf(config, config.host), { messageId, from, ...rest, text, html }, { timeoutMs, signal });
  return { value, secrets: config.password === undefined ? [] : [config.password] };
};

function serverOf({ port, secure, require_tls, user, password }: MailConfig, host: string): SmtpServer {
  const credentials = user === undefined || password === undefined ? undefined : { user, password };
  return { host, secure, port: port ?? (secure ? 465 : 587), requireTls: require_tls ?? credentials !== undefined, credentials };
}

function domainOf(from: string): string {
  return /@([A-Za-z0-9.-]+)>?\s*$/.exec(from)?.[1] ?? 'localhost';
}
