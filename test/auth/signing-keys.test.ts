import { beforeEach, describe, expect, test } from '@jest/globals';
import { compactVerify, createLocalJWKSet, decodeProtectedHeader } from 'jose';
import { createSigningKeys, type SigningKeyOptions } from '../../src/auth/signing-keys.js';
import { createStatementSigner, createTokens, type Tokens } from '../../src/auth/tokens.js';
import { epochSeconds } from '../../src/base/time.js';
import { testRun } from '../support/run.js';
import { verifies } from '../support/verifies.js';
import { useAuthServer } from './auth-server.js';

// Use a separate database, because other test files sign in concurrently.
const uri = new URL(testRun().env.MONGODB_URI ?? '');
uri.pathname += '_signing';
const server = useAuthServer({ MONGODB_URI: uri.toString() });
const { collections } = server.deps.mongo;
const { box } = server.deps.auth;
const issuer = 'http://issuer.test';

function process(options: Partial<SigningKeyOptions> = {}) {
  const keys = createSigningKeys({ collections, box, ...options });
  return { keys, tokens: createTokens(keys, issuer) };
}
function sign(tokens: Tokens) {
  return tokens.sign({ sub: 'user_1', token_use: 'user' }, { expiresInSeconds: 60 });
}
const tokenUse = ['user'] as const;

beforeEach(async () => {
  await collections.signing_keys.deleteMany({});
});

describe('GET /.well-known/jwks.json', () => {
  test('publishes only the public parts of keys that verify tokens, with a cache lifetime', async () => {
    verifies('auth.jwks');
    const { status, headers, body } = await server.client().get('/.well-known/jwks.json');
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('public, max-age=300');
    expect(body.keys).toHaveLength(1);
    expect(Object.keys(body.keys[0]).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
    const token = await process().tokens.sign({ sub: 'user_1' }, { expiresInSeconds: 60 });
    await expect(compactVerify(token, createLocalJWKSet(body))).resolves.toBeDefined();
    const [stored] = await collections.signing_keys.find({}).toArray();
    expect(stored?.sealed_private).toMatch(/^v1\./);
    expect(JSON.stringify(stored)).not.toContain('"d"');
  });
});

describe('signing keys', () => {
  test('of processes that start concurrently are one key', async () => {
    const processes = Array.from({ length: 10 }, () => process());
    const signed = await Promise.all(processes.map(({ tokens }) => sign(tokens)));
    expect(new Set(signed.map((token) => decodeProtectedHeader(token).kid)).size).toBe(1);
    expect(await collections.signing_keys.countDocuments({})).toBe(1);
  });

  test('rotate: the new key signs, and every process accepts tokens of both', async () => {
    verifies('auth.jwt.rotation');
    const one = process();
    const two = process();
    const before = await sign(one.tokens);
    await two.tokens.verify(before, { tokenUse });
    await one.keys.rotate({ leadSeconds: 0 });
    const after = await sign(one.tokens);
    expect(decodeProtectedHeader(after).kid).not.toBe(decodeProtectedHeader(before).kid);
    for (const { tokens } of [one, two]) {
      for (const token of [before, after])
        expect(await tokens.verify(token, { tokenUse })).toMatchObject({ sub: 'user_1', iss: issuer });
    }
  });

  test('are published before they sign', async () => {
    const { keys, tokens } = process();
    const before = decodeProtectedHeader(await sign(tokens)).kid;
    await keys.rotate();
    expect((await keys.published()).keys).toHaveLength(2);
    expect(decodeProtectedHeader(await sign(tokens)).kid).toBe(before);
  });

  test('have one successor after concurrent rotations, and rotate automatically by age', async () => {
    const processes = Array.from({ length: 5 }, () => process());
    await Promise.all(processes.map(({ tokens }) => sign(tokens)));
    await collections.signing_keys.updateOne(
      { _id: 'signing:1' },
      { $set: { created_at: epochSeconds() - 40 * 24 * 3600 } },
    );
    await Promise.all(Array.from({ length: 5 }, () => sign(process().tokens)));
    expect(await collections.signing_keys.countDocuments({})).toBe(2);
  });

  test('retire when none of their tokens can be valid: they are refused and unpublished, and the private key is destroyed', async () => {
    const { keys, tokens } = process({ maxTokenSeconds: -1 });
    const before = await sign(tokens);
    await keys.rotate({ leadSeconds: 0 });
    await expect(tokens.verify(before, { tokenUse })).rejects.toMatchObject({
      code: 'invalid_token',
      message: 'token invalid',
    });
    expect((await keys.published()).keys.map(({ kid }) => kid)).toEqual([
      decodeProtectedHeader(await sign(tokens)).kid,
    ]);
    expect((await keys.history()).keys).toHaveLength(2);
    expect(await collections.signing_keys.findOne({ _id: 'signing:1' })).toMatchObject({ sealed_private: null });
  });
});

describe('statements', () => {
  test('are signed with their own type, are not valid tokens, and verify after their key has retired', async () => {
    const { keys, tokens } = process({ maxTokenSeconds: -1 });
    const signer = createStatementSigner(keys);
    const statement = await signer.sign({ entries: 3, sub: 'user_1', token_use: 'user' }, 'audit-checkpoint+jwt');
    await keys.rotate({ leadSeconds: 0 });
    const { payload, protectedHeader } = await compactVerify(statement, createLocalJWKSet(await signer.jwks()));
    expect(protectedHeader).toMatchObject({ alg: 'ES256', typ: 'audit-checkpoint+jwt' });
    expect(JSON.parse(Buffer.from(payload).toString())).toMatchObject({ entries: 3 });
    await expect(tokens.verify(statement, { tokenUse })).rejects.toThrow('token invalid');
    for (const typ of ['JWT', 'at+jwt', 'application/at+jwt'])
      await expect(signer.sign({}, typ)).rejects.toThrow(/type of a token/);
  });
});
