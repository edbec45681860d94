import type { LookupFunction } from 'node:net';
import { createTransport } from 'nodemailer';
import { withDeadline } from './deadline.js';
import { beforeConnecting, OutboundError } from './outbound-error.js';
import type { OwnServers } from './own-servers.js';
import { addressOf, publicAddressOf } from './target-guard.js';

export interface SmtpServer {
  host: string;
  port: number;
  /** Uses TLS from the first byte. If false, uses STARTTLS if the server offers it, or always with `requireTls`. */
  secure: boolean;
  requireTls: boolean;
  credentials: { user: string; password: string } | undefined;
}

export interface Mail {
  messageId: string;
  from: string;
  to: string[];
  cc: string[];
  bcc: string[];
  subject: string;
  text: string | undefined;
  html: string | undefined;
}

interface MailReceipt {
  message_id: string;
  accepted: string[];
  rejected: string[];
}

interface SmtpClientOptions {
  allowPrivateTargets: boolean;
  /** The servers that are never called, whatever `allowPrivateTargets` says. */
  ownServers?: OwnServers;
  lookup?: LookupFunction;
}

const idleTimeoutMs = 30_000;

/** Sends mail over SMTP (RFC 5321) to servers that users specify. */
export function createSmtpClient({ allowPrivateTargets, ownServers, lookup }: SmtpClientOptions) {
  return {
    /**
     * @throws OutboundError `target_refused`, `timeout`, `unreachable`; for an SMTP reply `action_refused` (5xx) or
     * `action_unavailable` (4xx)
     */
    send: (server: SmtpServer, mail: Mail, options: { timeoutMs: number; signal: AbortSignal }): Promise<MailReceipt> =>
      withDeadline(options, async (signal) => {
        const find = allowPrivateTargets ? addressOf : publicAddressOf;
        const host = await find(server.host, lookup);
        await ownServers?.refuse(host, server.port);
        return deliver({ ...server, host, name: server.host }, mail, signal);
      }),
  };
}

export type SmtpClient = ReturnType<typeof createSmtpClient>;

/** Connects to `host`, the checked address, and verifies the certificate against `name`. */
async function deliver(
  server: SmtpServer & { name: string },
  { messageId, ...mail }: Mail,
  signal: AbortSignal,
): Promise<MailReceipt> {
  const { host, name, port, secure, requireTls: requireTLS, credentials } = server;
  const transport = createTransport({
    ...{ host, port, secure, requireTLS },
    ...(credentials && { auth: { user: credentials.user, pass: credentials.password } }),
    ...{ connectionTimeout: idleTimeoutMs, greetingTimeout: idleTimeoutMs, socketTimeout: idleTimeoutMs },
    tls: { servername: name },
    // Nodemailer must not read files or fetch URLs for a message.
    ...{ disableFileAccess: true, disableUrlAccess: true },
  });
  try {
    const { accepted, rejected } = await transport.sendMail({
      ...mail,
      ...{ messageId, signal },
      ...{ disableFileAccess: true, disableUrlAccess: true },
    });
    return { message_id: messageId, accepted: addresses(accepted), rejected: addresses(rejected) };
  } catch (error) {
    throw failureOf(error);
  }
}

function addresses(list: readonly (string | { address: string })[]): string[] {
  return list.map((each) => (typeof each === 'string' ? each : each.address));
}

/** An error of nodemailer. `originalCode` is the code of the system error. */
interface SmtpFailure {
  code?: string;
  responseCode?: number;
  originalCode?: string;
  timeoutType?: string;
}

/** Reports only codes, because the replies of a server may quote the message. */
function failureOf(error: unknown): OutboundError {
  const { code, responseCode: status, originalCode = '', timeoutType } = error as SmtpFailure;
  const options = status === undefined ? {} : { status };
  if (status !== undefined && status >= 500)
    return new OutboundError('action_refused', `the mail server refused the message (${status})`, options);
  if (status !== undefined)
    return new OutboundError('action_unavailable', `the mail server deferred the message (${status})`, options);
  if (code === 'EAUTH' || code === 'EENVELOPE' || code === 'ETLS')
    return new OutboundError('action_refused', `the message could not be delivered to the mail server (${code})`);
  const isUnsent = code === 'EDNS' || beforeConnecting.has(originalCode) || timeoutType === 'CONNECT_TIMEOUT';
  if (code === 'ETIMEDOUT') return new OutboundError('timeout', 'the mail server did not answer in time', { isUnsent });
  return new OutboundError(
    'unreachable',
    `the mail server could not be reached or closed the connection (${code ?? 'no code'})`,
    { isUnsent },
  );
}
