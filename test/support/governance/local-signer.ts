import { CompactSign, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose';
import type { StatementSigner } from '../../../src/auth/tokens.js';

export interface LocalSigner extends StatementSigner {
  /** Signs with a new key from now on; the old one stays published. */
  rotate(): Promise<void>;
  privateJwk(): JWK;
}

/** A signer with keys in memory, or with the one that another process handed over. */
export async function createLocalSigner(given?: JWK): Promise<LocalSigner> {
  const keys: JWK[] = [given ?? (await newKey('key-1'))];
  const current = () => keys.at(-1) ?? {};
  return {
    async sign(payload, typ) {
      const { kid = '' } = current();
      const jws = new CompactSign(Buffer.from(JSON.stringify(payload))).setProtectedHeader({ alg: 'ES256', kid, typ });
      return jws.sign(await importJWK(current(), 'ES256'));
    },
    jwks: async () => ({ keys: keys.map(({ d: _d, ...publicKey }) => publicKey) }),
    rotate: async () => void keys.push(await newKey(`key-${keys.length + 1}`)),
    privateJwk: current,
  };
}

async function newKey(kid: string): Promise<JWK> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  return { ...(await exportJWK(privateKey)), kid, alg: 'ES256' };
}
