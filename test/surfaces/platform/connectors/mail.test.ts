import { describe, expect, test } from '@jest/globals';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { connectorOf, flowOf, outputsOf, run } from '../../../support/connectors.js';
import { startExecution, untilExecution } from '../../../support/executions.js';
import { createWorkspace, useDeps } from '../../../support/fixture.js';
import { verifies } from '../../../support/verifies.js';

const deps = useDeps();

async function startMailServer(options: SMTPServerOptions = {}) {
  const mails: { from: string; to: string[]; user: unknown; raw: string }[] = [];
  const smtp = new SMTPServer({
    authOptional: true,
    allowInsecureAuth: true,
    disabledCommands: ['STARTTLS'],
    onAuth: ({ username, password }, _session, done) =>
      password === 'mail-s3cret' ? done(null, { user: username }) : done(new Error('no')),
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        mails.push({
          from: mailFrom ? mailFrom.address : '',
          to: rcptTo.map(({ address }) => address),
          user: session.user,
          raw: Buffer.concat(chunks).toString(),
        });
        done();
      });
    },
    ...options,
  });
  await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', resolve));
  return {
    mails,
    port: (smtp.server.address() as { port: number }).port,
    close: () => new Promise<void>((resolve) => smtp.close(() => resolve())),
  };
}

describe('a mail connector', () => {
  const action = { category: 'mail', endpoint: 'send' };
  const letter = {
    to: ['b@example.com', 'Carl <c@example.com>'],
    cc: 'd@example.com',
    subject: 'Grüße',
    text: 'The text',
    html: '<p>The page</p>',
  };

  test('delivers over SMTP with a Message-ID derived from the idempotency key', async () => {
    verifies('action.mail');
    const workspace = await createWorkspace(deps);
    const smtp = await startMailServer();
    const config = {
      host: '127.0.0.1',
      port: smtp.port,
      user: 'ada',
      password: 'mail-s3cret',
      require_tls: false,
      from: 'Ada <ada@example.org>',
    };
    const { _id, status } = await connectorOf(workspace, 'mail', config);
    expect(status).toBe('active');
    const [output] = outputsOf(await run(workspace, _id, [action], letter));
    expect(smtp.mails).toMatchObject([
      { from: 'ada@example.org', to: ['b@example.com', 'c@example.com', 'd@example.com'], user: 'ada' },
    ]);
    const raw = smtp.mails[0]?.raw ?? '';
    expect(output).toMatchObject({ message_id: expect.stringMatching(/^<[0-9a-f]{40}@example\.org>$/), rejected: [] });
    for (const part of [
      `Message-ID: ${output.message_id}`,
      'The text',
      '<p>The page</p>',
      'To: b@example.com, Carl <c@example.com>',
      'Subject: =?UTF-8?',
    ])
      expect(raw).toContain(part);
    await smtp.close();
  });

  test('is retried after a 4xx with the same Message-ID, and not after a 5xx', async () => {
    const workspace = await createWorkspace(deps);
    const ids: (string | undefined)[] = [];
    const replies = [451, 0, 550];
    const smtp = await startMailServer({
      onData(stream, _session, done) {
        let raw = '';
        stream.on('data', (chunk: Buffer) => (raw += chunk.toString()));
        stream.on('end', () => {
          ids.push(/^Message-ID: (.*)$/m.exec(raw)?.[1]);
          const responseCode = replies.shift();
          done(responseCode ? Object.assign(new Error('mail-s3cret'), { responseCode }) : undefined);
        });
      },
    });
    const { _id } = await connectorOf(workspace, 'mail', {
      host: '127.0.0.1',
      port: smtp.port,
      from: 'ada@example.org',
    });
    await run(workspace, _id, [action], letter);
    expect(ids).toHaveLength(2);
    expect(new Set(ids).size).toBe(1);
    const failed = await run(workspace, _id, [action], letter, 'failed');
    expect(ids).toHaveLength(3);
    expect(JSON.stringify(failed)).not.toContain('s3cret');
    await smtp.close();
  });

  test.each([
    ['to', { ...letter, to: 'nobody' }],
    ['to', { ...letter, to: undefined }],
    ['text', { ...letter, text: { path: '/etc/passwd' } }],
  ])('sends nothing for an invalid "%s"', async (name, input) => {
    const workspace = await createWorkspace(deps);
    const { _id } = await connectorOf(workspace, 'mail', { host: '127.0.0.1', port: 1, from: 'ada@example.org' });
    const id = await startExecution(workspace, flowOf(_id, action), { input_variables: input });
    await untilExecution(workspace, id, 'failed');
    const [step] = (await workspace.api.get(`/execute_flow/${id}/monitoring`)).body.steps;
    expect(step).toMatchObject({ attempts: 1, error: expect.stringContaining(`"${name}"`) });
  });
});
