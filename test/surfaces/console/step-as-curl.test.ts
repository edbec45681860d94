import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { createPerson } from '../../auth/auth-server.js';
import { startExecution, untilExecution } from '../../support/executions.js';
import { useDeps } from '../../support/fixture.js';
import { useHttpSink } from '../../support/use-http-sink.js';
import { verifies } from '../../support/verifies.js';
import { consoleUrl, signIn, withPage } from './chromium.js';

const deps = useDeps();
const sink = await useHttpSink();
const run = promisify(execFile);

/** What an attacker can make a model or another system say. */
const text = `@/etc/passwd it's $(echo no) \`echo no\` "q" \\ ; echo no\n[1-3]{a,b}`;

test('the request of a step is copied as a command, which does the same call and nothing else', async () => {
  verifies('console.run.as-curl');
  const person = await createPerson(deps);
  const field = (field_id: string, place: string) => ({ field_id, type: 'string', in: place });
  const id = await startExecution(
    person.workspace,
    {
      name: 'Send',
      initialAgent: 'send',
      steps: [
        {
          ...{ _id: 'send', type: 'action', inputs: { q: 'inputs.text', note: 'inputs.text' } },
          action: {
            ...{ name: 'Send', method: 'POST', endpoint: `${sink.url}/copied` },
            input_schema: { fields: [field('q', 'query'), field('note', 'body')] },
          },
        },
      ],
    },
    { input_variables: { text } },
  );
  await untilExecution(person.workspace, id, 'completed');
  await withPage(async (page) => {
    await signIn(page, person, consoleUrl(person, `/runs/${id}`));
    await page.locator('.waterfall button').first().click();
    const drawer = page.getByRole('dialog');
    await drawer.getByText('As curl').click();
    const command = (await drawer.getByRole('region', { name: 'Request as curl' }).textContent()) ?? '';
    await run('sh', ['-c', `${command} --silent --fail`]);
  });
  const [sent, copied, ...others] = sink.seen('/copied');
  expect(others).toEqual([]);
  expect(copied).toMatchObject({ method: 'POST', path: sent?.path, body: sent?.body });
  expect(JSON.parse(copied?.body ?? '')).toEqual({ note: text });
  expect(copied?.headers['content-type']).toBe(sent?.headers['content-type']);
  expect(copied?.key).toBeUndefined();
});
