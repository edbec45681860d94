import { hash, randomBytes } from 'node:crypto';
import { newId } from '../../ids.js';
import type { Collections } from '../../stores/collections.js';
import { epochSeconds } from '../../time.js';
import type { NewGrant } from './grants.js';

const codeSeconds = 60;
/** Past its life a code is kept for this long, so that its replay is known for what it is. */
const keptSeconds = 24 * 3600;
const prefix = 'svc_oac_';
const wellFormed = /^svc_oac_[A-Za-z0-9_-]{43}$/;

/** `_id` is the SHA-256 of the code; `grant` is what it opens, under an id that makes a second use collide. */
export interface OauthCodeDocument {
  _id: string;
  grant: NewGrant;
  /** The role and place that the person picked, for the first token's claims. */
  role: string;
  organization_id: string;
  department_id: string;
  redirect_uri: string;
  code_challenge: string;
  valid_until: number;
  expires_at: Date;
}

export type NewCode = Omit<OauthCodeDocument, '_id' | 'grant' | 'valid_until' | 'expires_at'> & { grant: Omit<NewGrant, '_id'> };

export interface Codes {
  issue(of: NewCode): Promise<string>;
  /** Whatever its state: whether it may be used, the caller decides. */
  find(code: string): Promise<OauthCodeDocument | null>;
}

export function createCodes({ oauth_codes: codes }: Collections): Codes {
  return {
    async issue(of) {
      const code = prefix + randomBytes(32).toString('base64url');
      const now = epochSeconds();
      await codes.insertOne({
        ...of,
        _id: hash('sha256', code),
        grant: { ...of.grant, _id: newId() },
        valid_until: now + codeSeconds,
        expires_at: new Date((now + codeSeconds + keptSeconds) * 1000),
      });
      return code;
    },
    async find(code) {
      return wellFormed.test(code) ? codes.findOne({ _id: hash('sha256', code) }) : null;
    },
  };
}
