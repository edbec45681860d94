import { newId } from '../../base/ids.js';
import { sha256Hex } from '../../base/hash.js';
import { defineCollection, expiring, type Collections } from '../../stores/collections.js';
import { epochSeconds } from '../../base/time.js';
import type { NewGrant } from './grants.js';
import { secretTokens } from '../secret-token.js';

const codeSeconds = 60;
/** How long an expired code is kept, so that its replay can be detected. */
const keptSeconds = 24 * 3600;
const secrets = secretTokens('svc_oac_');

/** `_id` is the SHA-256 of the code. `grant` has a fixed id, so that a second use of the code collides. */
export interface OauthCodeDocument {
  _id: string;
  grant: NewGrant;
  /** The highest role of the person at consent, and all of them if there are several. The exchange requires the same. */
  role: string;
  roles?: readonly string[];
  redirect_uri: string;
  code_challenge: string;
  valid_until: number;
  expires_at: Date;
}

type NewCode = Omit<OauthCodeDocument, '_id' | 'grant' | 'valid_until' | 'expires_at'> & {
  grant: Omit<NewGrant, '_id'>;
};

export type Codes = ReturnType<typeof createCodes>;

export function createCodes({ oauth_codes: codes }: Collections) {
  return {
    async issue(of: NewCode): Promise<string> {
      const code = secrets.create();
      const now = epochSeconds();
      await codes.insertOne({
        ...of,
        _id: sha256Hex(code),
        grant: { ...of.grant, _id: newId() },
        valid_until: now + codeSeconds,
        expires_at: new Date((now + codeSeconds + keptSeconds) * 1000),
      });
      return code;
    },
    /** Returns a code in any state. The caller checks whether it is still valid. */
    async find(code: string): Promise<OauthCodeDocument | null> {
      return secrets.isWellFormed(code) ? codes.findOne({ _id: sha256Hex(code) }) : null;
    },
  };
}

export const oauthCodesCollection = defineCollection('oauth_codes', {
  indexes: [{ keys: { 'grant.user_id': 1 } }, { keys: { 'grant.project_id': 1 } }, expiring],
  majorityRead: true,
});

declare module '../../stores/collections.js' {
  interface Documents {
    oauth_codes: OauthCodeDocument;
  }
}
