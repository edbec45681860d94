import { randomBytes } from 'node:crypto';
import { newId } from '../../ids.js';
import { defineCollection, expiring, type Collections } from '../../stores/collections.js';
import { epochSeconds } from '../../time.js';
import type { NewGrant } from './grants.js';
import { sha256Hex } from '../../sha256.js';

const codeSeconds = 60;
/** How long an expired code is kept, so that its replay can be detected. */
const keptSeconds = 24 * 3600;
const prefix = 'svc_oac_';
const wellFormed = /^svc_oac_[A-Za-z0-9_-]{43}$/;

/** `_id` is the SHA-256 of the code. `grant` has a fixed id, so that a second use of the code collides. */
export interface OauthCodeDocument {
  _id: string;
  grant: NewGrant;
  /** The role of the person at consent. The exchange requires that it is unchanged. */
  role: string;
  redirect_uri: string;
  code_challenge: string;
  valid_until: number;
  expires_at: Date;
}

type NewCode = Omit<OauthCodeDocument, '_id' | 'grant' | 'valid_until' | 'expires_at'> & {
  grant: Omit<NewGrant, '_id'>;
};

export interface Codes {
  issue(of: NewCode): Promise<string>;
  /** Returns a code in any state. The caller checks whether it is still valid. */
  find(code: string): Promise<OauthCodeDocument | null>;
}

export function createCodes({ oauth_codes: codes }: Collections): Codes {
  return {
    async issue(of) {
      const code = prefix + randomBytes(32).toString('base64url');
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
    async find(code) {
      return wellFormed.test(code) ? codes.findOne({ _id: sha256Hex(code) }) : null;
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
