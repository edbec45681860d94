import { describe, expect, test } from '@jest/globals';
import { createTokenSource } from '../../../src/domain/actions/access-tokens.js';
import { OutboundError } from '../../../src/outbound/outbound-error.js';
import type { HttpResponse } from '../../../src/outbound/http-client.js';
import { verifies } from '../../support/verifies.js';

const connector = { id: 'connector', sealed: 'sealed', account_id: undefined, config: {} };
const credentials = {
  ...{ type: 'client_credentials' as const, token_url: 'https://auth.example.com/token' },
  ...{ client_id: 'id', client_secret: 'secret', send_as: 'basic' as const },
};

/** A source whose token endpoint answers when the test says so. */
function source() {
  const asked: PromiseWithResolve[] = [];
  const request = () => new Promise<HttpResponse>((resolve, reject) => asked.push({ resolve, reject }));
  const tokens = createTokenSource({ request });
  const tokenFor = (signal = new AbortController().signal, refused?: string) =>
    tokens.tokenFor(connector, credentials, signal, refused);
  return { asked, tokenFor };
}

interface PromiseWithResolve {
  resolve(answer: HttpResponse): void;
  reject(error: unknown): void;
}

function tokenAnswer(token: string): HttpResponse {
  const body = Buffer.from(JSON.stringify({ access_token: token, token_type: 'Bearer', expires_in: 3600 }));
  return { status: 200, headers: { 'content-type': 'application/json' }, body };
}

describe('calls that need a token at the same time', () => {
  test('share one request, which outlives the call that began it', async () => {
    verifies('action.restful.authentication');
    const { asked, tokenFor } = source();
    const first = new AbortController();
    const calls = [tokenFor(first.signal), ...Array.from({ length: 49 }, () => tokenFor())];
    first.abort(new Error('the run was cancelled'));
    await expect(calls[0]).rejects.toThrow('the run was cancelled');
    expect(asked).toHaveLength(1);
    asked[0]?.resolve(tokenAnswer('one'));
    expect(new Set(await Promise.all(calls.slice(1)))).toEqual(new Set(['one']));
    expect(await tokenFor()).toBe('one');
    const again = [tokenFor(undefined, 'one'), tokenFor(undefined, 'one')];
    expect(asked).toHaveLength(2);
    asked[1]?.resolve(tokenAnswer('two'));
    expect(await Promise.all(again)).toEqual(['two', 'two']);
  });

  test('share its failure, and the next call asks again', async () => {
    verifies('action.restful.authentication');
    const { asked, tokenFor } = source();
    const calls = [tokenFor(), tokenFor()];
    asked[0]?.reject(new OutboundError('unreachable', 'no answer'));
    for (const call of calls) await expect(call).rejects.toMatchObject({ code: 'unreachable' });
    const next = tokenFor();
    expect(asked).toHaveLength(2);
    asked[1]?.resolve(tokenAnswer('one'));
    expect(await next).toBe('one');
  });
});
