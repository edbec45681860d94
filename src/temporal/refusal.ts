import { isGrpcServiceError } from '@temporalio/client';
import { status } from '@grpc/grpc-js';
import type { TemporalConfig } from './environment.js';

const credentials = 'Temporal refuses the credentials of this process: look at TEMPORAL_API_KEY, TEMPORAL_NAMESPACE and the client certificate';
const handshake = 'the TLS connection to Temporal cannot be made: look at the TEMPORAL_TLS_ variables and at the address';

/** Where TLS itself speaks. */
const ofTls = /certificate|handshake|\balert\b|self-signed|WRONG_VERSION_NUMBER|packet length too long|InvalidContentType/i;
/** The worker's native library tells a code in words only. */
const ofCredentials = /\b(unauthenticated|unauthorized|permission ?denied)\b/i;
/** Cut without a word, by the worker's library and the API's: so some servers refuse a client certificate in TLS 1.3. */
const cut = /connection closed|Last error: Failed to connect/;

/** Why waiting will not help, as a sentence for the operator; undefined for a Temporal that may still come up. */
export function refusalOf(error: unknown, { tls }: TemporalConfig['connection']): string | undefined {
  const showsCertificate = typeof tls === 'object' && tls?.clientCertPair !== undefined;
  for (let at = error; at instanceof Error; at = at.cause) {
    if (isGrpcServiceError(at) && (at.code === status.UNAUTHENTICATED || at.code === status.PERMISSION_DENIED)) return credentials;
    if (ofTls.test(at.message) || (showsCertificate && cut.test(at.message))) return handshake;
    if (ofCredentials.test(at.message)) return credentials;
  }
  return undefined;
}
