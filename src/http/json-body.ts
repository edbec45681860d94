import { isUtf8 } from 'node:buffer';
import express, { type Request, type RequestHandler, type Response } from 'express';
import { AppError } from '../base/errors.js';
import { toAppError } from './errors.js';
import { bodyLimits, checkJson, checkValueCount, refuseRounded } from '../base/json-gate.js';

export const limitOfRoutes = '1mb';
const parseBody = jsonBody(limitOfRoutes);

/** Reads the JSON body of a request of up to 1 MiB into `req.body`. @throws AppError like `jsonBody` */
export async function readJson(req: Request, res: Response): Promise<void> {
  for (const parse of parseBody) await parsedWith(parse, req, res);
}

/** @throws AppError what the parser refuses */
export function parsedWith(parse: RequestHandler, req: Request, res: Response): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    void parse(req, res, (error?: unknown) => (error === undefined ? resolve() : reject(toAppError(error))));
  });
}

/** Parses JSON bodies up to `limit`. Refuses other content types, and JSON that `checkJson` refuses. */
export function jsonBody(limit: string): RequestHandler[] {
  return [
    express.json({
      limit,
      strict: false,
      type: hasJson,
      verify: (_req, _res, text, charset) => checkText(text, charset),
    }),
    (req, _res, next) => {
      const hasBody = req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0;
      if (hasBody && !hasJson(req)) throw new AppError('invalid_request', 'the body must be sent as application/json');
      checkJson(req.body);
      next();
    },
  ];
}

/**
 * Throws the refusal as the cause of another error, because body-parser changes the status of an error that `verify`
 * throws.
 */
function checkText(text: Buffer, charset: string): void {
  try {
    // JSON is UTF-8 (RFC 8259, 8.1). The parser also accepts UTF-16, of which `checkValueCount` cannot count the values.
    if (charset !== 'utf-8') throw new AppError('invalid_request', 'the body must be UTF-8');
    // The parser would replace the invalid bytes and store another text.
    if (!isUtf8(text)) throw new AppError('invalid_request', 'the body is not valid UTF-8');
    checkValueCount(text, bodyLimits.values, refuseRounded);
  } catch (cause) {
    throw new Error('the body was refused before it was parsed', { cause });
  }
}

function hasJson(req: { headers: { 'content-type'?: string } }): boolean {
  return isJsonType(req.headers['content-type'] ?? '');
}

/** Returns whether a `Content-Type` header is `application/json` or ends in `+json` (RFC 6839). */
export function isJsonType(contentType: string): boolean {
  return /^application\/([\w.+-]+\+)?json\s*(;|$)/i.test(contentType);
}
