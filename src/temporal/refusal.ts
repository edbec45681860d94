import { isGrpcServiceError } from '@temporalio/client';
import { status } from '@grpc/grpc-js';
import type { TemporalConfig } from './environment.js';

const credentials =
  'Temporal refuses the credentials of this process: check TEMPORAL_API_KEY, TEMPORAL_NAMESPACE and the client certificate';
const handshake = 'the TLS connection to Temporal cannot be made: check the TEMPORAL_TLS_ variables and the address';

/** Matches errors of the TLS library. */
const tlsErrors =
  /certificate|handshake|\balert\b|self-signed|WRONG_VERSION_NUMBER|packet length too long|InvalidContentType/i;
/** Matches the text of a code, because the worker's native library reports codes only as text. */
const credentialErrors = /\b(unauthenticated|unauthorized|permission ?denied)\b/i;
/**
 * Matches a connection that closes without an error code. Some servers refuse a client certificate this way in TLS 1.3.
 * The libraries of the worker and of the API use different words.
 */
const closedConnection = /connection closed|Last error: Failed to connect/;

/** Returns a message for the operator if waiting cannot help, or undefined if Temporal may still start. */
export function refusalOf(error: unknown, { tls }: TemporalConfig['connection']): string | undefined {
  const hasCertificate = typeof tls === 'object' && tls?.clientCertPair !== undefined;
  for (let at = error; at instanceof Error; at = at.cause) {
    if (isGrpcServiceError(at) && (at.code === status.UNAUTHENTICATED || at.code === status.PERMISSION_DENIED))
      return credentials;
    if (tlsErrors.test(at.message) || (hasCertificate && closedConnection.test(at.message))) return handshake;
    if (credentialErrors.test(at.message)) return credentials;
  }
  return undefined;
}
