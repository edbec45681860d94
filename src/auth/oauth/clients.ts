import { timingSafeEqual } from 'node:crypto';
import { isId, newId } from '../../base/ids.js';
import { sha256Hex } from '../../base/hash.js';
import type { JsonObject } from '../../base/json.js';
import { defineCollection, expiring, type Collections } from '../../stores/collections.js';
import { epochSeconds } from '../../base/time.js';
import { secretTokens } from '../secret-token.js';
import { addressOf } from '../window-counter.js';

export const clientAuthMethods = ['none', 'client_secret_post', 'client_secret_basic', 'private_key_jwt'] as const;
export const grantTypes = ['authorization_code', 'refresh_token'] as const;

/** What clients may register for, and the grant of `gcs` (RFC 8628, 3.4). */
export const deviceGrantType = 'urn:ietf:params:oauth:grant-type:device_code';
export const supportedGrantTypes = [...grantTypes, deviceGrantType] as const;

/** The metadata of a client that this server supports (RFC 7591, 2). */
export interface ClientMetadata {
  redirect_uris: string[];
  token_endpoint_auth_method: (typeof clientAuthMethods)[number];
  grant_types: (typeof grantTypes)[number][];
  response_types: ['code'];
  client_name: string;
  /** The public keys of a client that signs assertions, or the address of them (RFC 7591, 2). */
  jwks?: { keys: JsonObject[] } | null;
  jwks_uri?: string | null;
}

/** A registration without a consent expires soon. A used one is kept for at least the longest lifetime of a grant. */
const unusedDays = 1;
const usedDays = 400;

/** How many registrations without a consent are kept. Anyone may register, so they could otherwise fill the store. */
export interface UnusedLimits {
  perAddress: number;
  total: number;
}
export const unusedLimits: UnusedLimits = { perAddress: 100, total: 20_000 };
const secrets = secretTokens('svc_ocs_');

/** `_id` is the `client_id`: an id of this service, or the URL of a metadata document, which the record copies. */
export interface OauthClientDocument extends ClientMetadata {
  _id: string;
  /** SHA-256 of the secret; null for a public client, and for one that signs assertions. */
  secret_hash: string | null;
  created_at: number;
  /** For a metadata document: the time until which the copy can be used without fetching the document again. */
  fresh_until: number | null;
  /** SHA-256 of the address that registered the client, until somebody consents to it. Documents have none. */
  unused_from?: string;
  expires_at: Date;
}

/** The command line tool of this service, a public client that needs no registration. It only authorizes devices. */
export const gcsClient: OauthClientDocument = {
  _id: 'gcs',
  client_name: 'gcs',
  redirect_uris: [],
  token_endpoint_auth_method: 'none',
  grant_types: [],
  response_types: ['code'],
  secret_hash: null,
  created_at: 0,
  fresh_until: null,
  expires_at: new Date(8.64e15),
};

export type Clients = ReturnType<typeof createClients>;

export function createClients({ oauth_clients: clients }: Collections, limits: UnusedLimits = unusedLimits) {
  const isFull = async (unused_from: string | { $gt: string }, limit: number) =>
    (await clients.countDocuments({ unused_from }, { limit })) >= limit;
  return {
    /** Whose registrations are too many to add one from this address; undefined if it can be added. */
    async whoseAreTooMany(address: string): Promise<'this address' | 'all addresses' | undefined> {
      if (await isFull(hashOfAddress(address), limits.perAddress)) return 'this address';
      return (await isFull({ $gt: '' }, limits.total)) ? 'all addresses' : undefined;
    },
    /** Call `whoseAreTooMany` first. */
    async register(
      metadata: ClientMetadata,
      address: string,
    ): Promise<{ client: OauthClientDocument; secret: string | undefined }> {
      const { token_endpoint_auth_method: method } = metadata;
      const hasSecret = method === 'client_secret_post' || method === 'client_secret_basic';
      const secret = hasSecret ? secrets.create() : undefined;
      const client: OauthClientDocument = {
        _id: newId(),
        ...metadata,
        secret_hash: secret === undefined ? null : sha256Hex(secret),
        created_at: Math.floor(epochSeconds()),
        fresh_until: null,
        unused_from: hashOfAddress(address),
        expires_at: inDays(unusedDays),
      };
      await clients.insertOne(client);
      return { client, secret };
    },
    /** Returns a client unless it has expired. */
    async find(id: string): Promise<OauthClientDocument | undefined> {
      if (id === gcsClient._id) return gcsClient;
      if (!isId(id) && !isDocumentAddress(id)) return undefined;
      const client = await clients.findOne({ _id: id });
      return client && client.expires_at.getTime() > Date.now() ? client : undefined;
    },
    /** Stores or renews the copy of a metadata document. */
    async keepDocument(id: string, metadata: ClientMetadata, freshSeconds: number): Promise<OauthClientDocument> {
      const now = epochSeconds();
      const fields = { ...metadata, secret_hash: null, fresh_until: now + freshSeconds };
      await clients.updateOne(
        { _id: id },
        { $set: fields, $setOnInsert: { created_at: Math.floor(now) }, $max: { expires_at: inDays(unusedDays) } },
        { upsert: true },
      );
      return { _id: id, ...fields, created_at: now, expires_at: inDays(unusedDays) };
    },
    /** Extends the lifetime of a client that somebody consented to. */
    async used(_id: string): Promise<void> {
      const expires_at = inDays(usedDays);
      await clients.updateOne({ _id }, { $max: { expires_at }, $unset: { unused_from: '' } });
    },
  };
}

/** Returns whether a `client_id` is the URL of a metadata document. */
export function isDocumentAddress(id: string): boolean {
  return /^https?:\/\//.test(id) && id.length <= 2000;
}

/** Compares the hash of the secret in constant time. */
export function secretMatches({ secret_hash }: Pick<OauthClientDocument, 'secret_hash'>, secret: string): boolean {
  return secret_hash !== null && timingSafeEqual(Buffer.from(sha256Hex(secret)), Buffer.from(secret_hash));
}

function hashOfAddress(address: string): string {
  return sha256Hex(addressOf(address));
}

function inDays(days: number): Date {
  return new Date(Date.now() + days * 24 * 3600 * 1000);
}

export const oauthClientsCollection = defineCollection('oauth_clients', {
  indexes: [expiring, { keys: { unused_from: 1 } }],
});

declare module '../../stores/collections.js' {
  interface Documents {
    oauth_clients: OauthClientDocument;
  }
}
