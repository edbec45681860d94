import type { SecretBox } from '../../auth/secret-box.js';
import { AppError } from '../../base/errors.js';

/** How long a download URL is valid. */
export const urlLifetimeSeconds = 3600;
const purpose = 'file-download';

/** The path and query to download a file until `expires` (epoch seconds). */
export function signedPath(box: SecretBox, fileId: string, expires: number): string {
  return `/files/content/${encodeURIComponent(fileId)}?expires=${expires}&signature=${box.sign(signedText(fileId, expires), purpose)}`;
}

/** @throws AppError `access_denied`, with the same message for an invalid and an expired URL */
export function checkSignedPath(
  box: SecretBox,
  fileId: string,
  { expires, signature }: { expires: string; signature: string },
): void {
  const until = /^[1-9]\d{0,11}$/.test(expires) ? Number(expires) : 0;
  const isValid = box.isSigned(signedText(fileId, until), signature, purpose);
  if (!isValid || until * 1000 < Date.now())
    throw new AppError('access_denied', 'the download link is invalid or has expired');
}

function signedText(fileId: string, expires: number): string {
  return `GET ${fileId} ${expires}`;
}
