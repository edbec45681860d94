const secretNames =
  /(^|[^a-z])(auth|authorization|token|secret|passw(or)?d|passphrase|pwd|api[-_]?key|apikey|access[-_]?key|key|credentials?|cookie|session([-_]?id)?|signature|sig|jwt|bearer)([^a-z]|$)/;

/** Whether a header, a parameter or a field with this name usually has a credential. */
export function isSecretName(name: string): boolean {
  // `clientSecret` and `X-Api-Key` have the same words as `client_secret` and `x-api-key`.
  return secretNames.test(name.replace(/([a-z\d])([A-Z])/g, '$1_$2').toLowerCase());
}

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Whether a part of a path looks like a key, as in the address of a webhook. The id of a record can look alike. */
export function looksSecret(part: string): boolean {
  if (uuid.test(part) || part.length < 20) return false;
  return /[a-z]/i.test(part) && /\d/.test(part) && /^[\w:.~=%-]+$/.test(part);
}

export const keepSecretsInConnector = 'Credentials belong into the connector, where they are encrypted.';
