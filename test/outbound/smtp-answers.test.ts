import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { createServer, type Socket } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { createSmtpClient, type Mail } from '../../src/outbound/smtp-client.js';
import { listen } from '../support/ports.js';
import { verifies } from '../support/verifies.js';

const client = createSmtpClient({ allowPrivateTargets: true });
const mail: Mail = {
  ...{ messageId: '<m@example.org>', from: 'a@example.org', to: ['b@example.org'], cc: [], bcc: [] },
  ...{ subject: 'Hello', text: 'The text', html: undefined },
};

type Replies = Record<string, string | ((socket: Socket) => void)>;
const usual: Replies = {
  greeting: '220 here\r\n',
  EHLO: '250 here\r\n',
  MAIL: '250 ok\r\n',
  RCPT: '250 ok\r\n',
  DATA: '354 go on\r\n',
  end: '250 taken\r\n',
  QUIT: '221 bye\r\n',
};

/** Answers each command by its first word; `greeting` is sent immediately, `end` after the dot of a mail. */
async function startServer(replies: Replies) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    const reply = (name: string) => {
      const given = { ...usual, ...replies }[name] ?? '500 what?\r\n';
      if (typeof given === 'string') socket.write(given, 'latin1');
      else given(socket);
    };
    let isData = false;
    let rest = '';
    socket.on('data', (chunk: Buffer) => {
      const lines = (rest + chunk.toString('latin1')).split('\r\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (isData && line !== '.') continue;
        const name = isData ? 'end' : (line.split(/[ :]/)[0] ?? '').toUpperCase();
        isData = name === 'DATA';
        reply(name);
      }
    });
    reply('greeting');
  });
  const { port, close } = await listen(server);
  return {
    port,
    close() {
      for (const socket of sockets) socket.destroy();
      return close();
    },
  };
}

async function sendTo(port: number, timeoutMs = 20_000, signal = new AbortController().signal) {
  const server = { host: '127.0.0.1', port, secure: false, requireTls: false, credentials: undefined };
  return client.send(server, mail, { timeoutMs, signal });
}

const endless = (text: string) => (socket: Socket) => {
  const write = () => {
    while (!socket.destroyed && socket.write(text.repeat(1000), 'latin1'));
    if (!socket.destroyed) socket.once('drain', write);
  };
  write();
};

/** Answers, each with the error that the client reports, or undefined if it accepts the answer as success. */
const answers: [string, Replies, string | undefined][] = [
  ['a greeting with NUL', { greeting: '220\0 here\0\r\n' }, undefined],
  ['bytes that are not a reply', { greeting: '\x00\xff\xd8\xff\r\n' }, 'unreachable'],
  ['a code outside the allowed range', { MAIL: '999 __proto__\r\n' }, 'action_refused'],
  ['a code of one digit', { MAIL: '2 ok\r\n' }, undefined],
  ['letters for a code', { end: 'OK taken\r\n' }, 'unreachable'],
  ['a line of 4 MiB', { EHLO: `250 ${'x'.repeat(4 * 1024 * 1024)}\r\n` }, 'unreachable'],
  ['a line that never ends', { EHLO: endless('x') }, 'unreachable'],
  ['a reply of endless lines', { RCPT: endless('250-more\r\n') }, 'unreachable'],
  ['endless replies', { DATA: endless('250 ok\r\n') }, undefined],
  ['a connection that breaks off', { end: (socket) => void socket.destroy() }, 'unreachable'],
  ['a reply that breaks off', { end: (socket) => void socket.end('25') }, 'unreachable'],
  ['an announcement that it closes', { MAIL: '421 too busy\r\n' }, 'action_unavailable'],
  ['a refusal that quotes a secret', { end: '554 s3cret\r\n' }, 'action_refused'],
];

describe('a mail server that answers with', () => {
  test.each(answers)('%s', async (_name, replies, code) => {
    verifies('outbound.mail-answers');
    const server = await startServer(replies);
    const told = await sendTo(server.port).catch((error: unknown) => error as Error);
    expect(told).toMatchObject(code ? { name: 'OutboundError', code } : { accepted: ['b@example.org'] });
    expect(JSON.stringify(told, Object.getOwnPropertyNames(told))).not.toContain('s3cret');
    await server.close();
    const good = await startServer({});
    expect(await sendTo(good.port)).toMatchObject({ accepted: ['b@example.org'] });
    await good.close();
  });

  test('a refused connection has not received the mail, and one that breaks off may have received it', async () => {
    verifies('outbound.mail-answers');
    const server = await startServer({ end: (socket) => void socket.destroy() });
    await expect(sendTo(server.port)).rejects.toMatchObject({ code: 'unreachable', isUnsent: false });
    await server.close();
    await expect(sendTo(server.port)).rejects.toMatchObject({ code: 'unreachable', isUnsent: true });
  });

  test.each<[string, Replies]>([
    ['silence', { greeting: () => undefined }],
    ['silence after the mail', { end: () => undefined }],
  ])('%s is aborted when the time is over and when the call is cancelled', async (_name, replies) => {
    verifies('outbound.mail-answers');
    const server = await startServer(replies);
    await expect(sendTo(server.port, 200)).rejects.toMatchObject({ code: 'timeout' });
    const cancelled = new AbortController();
    const sending = sendTo(server.port, 20_000, cancelled.signal);
    cancelled.abort(new Error('cancelled'));
    await expect(sending).rejects.toThrow();
    await server.close();
  });

  test('does not get the mail of a call that was cancelled before', async () => {
    verifies('outbound.mail-answers');
    const cancelled = new AbortController();
    let sender: Socket | undefined;
    let hasMail = false;
    const server = await startServer({
      RCPT: (socket) => {
        sender = socket;
        cancelled.abort(new Error('cancelled'));
      },
      DATA: () => {
        hasMail = true;
      },
    });
    await expect(sendTo(server.port, 20_000, cancelled.signal)).rejects.toThrow('cancelled');
    sender?.write('250 ok\r\n');
    if (!sender?.destroyed) await new Promise((resolve) => sender?.once('close', resolve));
    expect(hasMail).toBe(false);
    await server.close();
  });

  test('gets no connection if its name is resolved only after the time is over', async () => {
    verifies('outbound.mail-answers');
    const connections: unknown[] = [];
    const note = (message: unknown) => void connections.push(message);
    subscribe('net.client.socket', note);
    let answer: (() => void) | undefined;
    const slow = createSmtpClient({
      allowPrivateTargets: false,
      lookup: (_host, _options, callback) => {
        answer = () => callback(null, '9.9.9.9', 4);
      },
    });
    const server = { host: 'mail.example.org', port: 25, secure: false, requireTls: false, credentials: undefined };
    const sending = slow.send(server, mail, { timeoutMs: 20, signal: new AbortController().signal });
    await expect(sending).rejects.toMatchObject({ code: 'timeout' });
    answer?.();
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    unsubscribe('net.client.socket', note);
    expect(connections).toEqual([]);
  });
});
