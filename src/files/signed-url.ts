import type { SecretBox } from '../auth/secret-box.js';
import { AppError } from '../errors.js';

/** How long a download address is good for. */
export const urlLifetimeSeconds = 3600;
const purpose = 'file-download';

/** The path and query that read one file until `expires` (epoch seconds). */
export function signedPath(box: SecretBox, fileId: string, expires: number): string {
  return `/files/content/${encodeURIComponent(fileId)}?expires=${expires}&signature=${box.sign(signedText(fileId, expires), purpose)}`;
}

/**
 * @throws AppError `access_denied`, the same for a changed address and for one that has expired
 */
export function checkSignedPath(box: SecretBox, fileId: string, { expires, signature }: { expires: string; signature: string }): void {
  const until = /^[1-9]\d{0,11}$/.test(expires) ? Number(expires) : 0;
  const isGood = box.isSigned(signedText(fileId, until), signature, purpose);
  if (!isGood || until * 1000 < Date.now()) throw new AppError('access_denied', 'this address is not good, or not any more');
}

function signedText(fileId: string, expires: number): string {
  return `GET ${fileId} ${expires}`;
}
