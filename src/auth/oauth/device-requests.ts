import { createHmac, randomInt } from 'node:crypto';
import { sha256Hex } from '../../base/hash.js';
import { epochSeconds } from '../../base/time.js';
import { defineCollection, expiring, type Collections } from '../../stores/collections.js';
import { isDuplicateKey } from '../../stores/mongo.js';
import { apiKeyPrefix } from '../api-keys.js';
import { secretTokens } from '../secret-token.js';

/** How long a request waits for its answer. */
export const requestSeconds = 600;
/** How much longer the program can fetch a key that a person has allowed at the last moment. */
const fetchSeconds = 60;
const firstInterval = 5;
/** Clocks and networks shift two polls towards each other by up to this time. */
const shiftSeconds = 0.5;

const deviceCodes = secretTokens('svc_odc_');
/** Consonants, so that codes contain no words and no characters that look alike (RFC 8628, 6.1). */
const codeLetters = 'BCDFGHJKLMNPQRSTVWXZ';
const codeLength = 8;

/**
 * A program that asks for an API key (RFC 8628). `_id` is the SHA-256 of the device code. The secret of the key is
 * derived from the device code, so this service stores neither, and each poll returns the same key.
 */
export interface DeviceRequestDocument {
  _id: string;
  /** Without the hyphen. */
  user_code: string;
  /** The SHA-256 of the secret of the key, which is the `_id` of the key. */
  key_hash: string;
  client_id: string;
  /** The name that the device gives itself. It may be empty. */
  device_name: string;
  /** The network address of the program. */
  address: string;
  /** The project that the program prefers. */
  project_id?: string;
  created_at: number;
  valid_until: number;
  /** The least number of seconds between two polls. */
  interval: number;
  polled_at: number;
  /** The only person who may answer: the first one who did. */
  user_id?: string;
  answer?: 'allowed' | 'denied';
  /** Why the key was not created yet, such as a policy that forbids it. The program shows it. */
  note?: string;
  expires_at: Date;
}

type NewRequest = Pick<DeviceRequestDocument, 'client_id' | 'device_name' | 'address'> & { project_id?: string };

export type DeviceRequests = ReturnType<typeof createDeviceRequests>;

export function createDeviceRequests({ oauth_device_requests: requests }: Collections) {
  return {
    async open(of: NewRequest): Promise<{ deviceCode: string; request: DeviceRequestDocument }> {
      const deviceCode = deviceCodes.create();
      const now = epochSeconds();
      const request: DeviceRequestDocument = {
        ...of,
        _id: sha256Hex(deviceCode),
        user_code: newUserCode(),
        key_hash: sha256Hex(keySecretOf(deviceCode)),
        created_at: now,
        valid_until: now + requestSeconds,
        interval: firstInterval,
        polled_at: 0,
        // Until then, a late poll learns that the request has expired.
        expires_at: new Date((now + 2 * requestSeconds) * 1000),
      };
      while (!(await isInserted(request))) request.user_code = newUserCode();
      return { deviceCode, request };
    },
    /** Returns a request in any state. */
    async findByDeviceCode(deviceCode: string): Promise<DeviceRequestDocument | null> {
      return deviceCodes.isWellFormed(deviceCode) ? requests.findOne({ _id: sha256Hex(deviceCode) }) : null;
    },
    /**
     * Returns the request with a code that a person entered, if this person may answer or has answered it. Unknown,
     * expired and other people's requests look the same.
     */
    async findForPerson(entered: string, userId: string): Promise<DeviceRequestDocument | undefined> {
      const request = await requests.findOne({ user_code: lettersOf(entered) });
      const isOwn = request?.user_id === undefined || request.user_id === userId;
      return request && isOwn && request.valid_until > epochSeconds() ? request : undefined;
    },
    /** Makes the person the only one who may answer. Returns false if the request has another person or an answer. */
    async claim(_id: string, userId: string): Promise<boolean> {
      const open = { _id, answer: { $exists: false }, valid_until: { $gt: epochSeconds() } };
      const update = { $set: { user_id: userId } };
      const claimed =
        (await requests.findOneAndUpdate({ ...open, user_id: { $exists: false } }, update)) ??
        (await requests.findOneAndUpdate({ ...open, user_id: userId }, update));
      return claimed !== null;
    },
    /** Stores the answer of the person who has claimed the request. Returns the answer that counts: the first one. */
    async answer(_id: string, answer: 'allowed' | 'denied'): Promise<'allowed' | 'denied' | undefined> {
      await requests.updateOne({ _id, answer: { $exists: false } }, { $set: { answer }, $unset: { note: '' } });
      return (await requests.findOne({ _id }))?.answer;
    },
    async explain(_id: string, note: string): Promise<void> {
      await requests.updateOne({ _id, answer: { $exists: false } }, { $set: { note } });
    },
    /** Counts a poll. Returns false, and makes the interval longer, if it came too early (RFC 8628, 3.5). */
    async isPollInTime(_id: string): Promise<boolean> {
      const now = epochSeconds();
      const before = await requests.findOneAndUpdate({ _id }, { $set: { polled_at: now } });
      if (!before || now - before.polled_at >= before.interval - shiftSeconds) return true;
      await requests.updateOne({ _id }, { $inc: { interval: 5 } });
      return false;
    },
  };

  async function isInserted(request: DeviceRequestDocument): Promise<boolean> {
    try {
      await requests.insertOne(request);
      return true;
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  }
}

/** Whether the program can still fetch the answer. */
export function isAnswerable({ answer, valid_until }: DeviceRequestDocument): boolean {
  return valid_until + (answer === 'allowed' ? fetchSeconds : 0) > epochSeconds();
}

/** The secret of the API key that a device code stands for: a prefix and 32 bytes, like that of every key. */
export function keySecretOf(deviceCode: string): string {
  return `${apiKeyPrefix}${createHmac('sha256', deviceCode).update('API key').digest('base64url')}`;
}

/** Formats a code like `WDJB-MJHT`. */
export function shownUserCode(code: string): string {
  return `${code.slice(0, codeLength / 2)}-${code.slice(codeLength / 2)}`;
}

function newUserCode(): string {
  return Array.from({ length: codeLength }, () => codeLetters[randomInt(codeLetters.length)]).join('');
}

/** Accepts small letters and any characters between the letters (RFC 8628, 6.1). */
function lettersOf(entered: string): string {
  return entered
    .slice(0, 100)
    .toUpperCase()
    .replace(/[^A-Z]/g, '');
}

export const deviceRequestsCollection = defineCollection('oauth_device_requests', {
  indexes: [{ keys: { user_code: 1 }, options: { unique: true } }, expiring],
  majorityRead: true,
});

declare module '../../stores/collections.js' {
  interface Documents {
    oauth_device_requests: DeviceRequestDocument;
  }
}
