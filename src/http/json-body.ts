import express, { type RequestHandler } from 'express';
import { AppError } from '../errors.js';

const maxDepth = 64;
const forbiddenKeys = new Set(['__proto__', 'constructor', 'prototype']);

/** JSON bodies up to `limit`; anything else that has a body is refused. Values are bounded in depth and well-formed. */
export function jsonBody(limit: string): RequestHandler[] {
  return [
    express.json({ limit, strict: false, type: hasJson }),
    (req, _res, next) => {
      const hasBody = req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0;
      if (hasBody && !hasJson(req)) throw new AppError('invalid_request', 'the body must be sent as application/json');
      checkJson(req.body, '', 0);
      next();
    },
  ];
}

function hasJson(req: { headers: { 'content-type'?: string } }): boolean {
  return isJsonType(req.headers['content-type'] ?? '');
}

/** Of a `Content-Type` header: `application/json`, or a type that ends in `+json` (RFC 6839). */
export function isJsonType(contentType: string): boolean {
  return /^application\/([\w.+-]+\+)?json\s*(;|$)/i.test(contentType);
}

/** Refuses what JSON can carry but no store should hold: prototype keys, NUL, lone surrogates, bottomless nesting. */
export function checkJson(value: unknown, where: string, depth: number): void {
  if (typeof value === 'string') return checkText(value, where);
  if (typeof value !== 'object' || value === null) return;
  if (depth >= maxDepth) throw new AppError('invalid_request', `the body is nested deeper than ${maxDepth} levels`);
  for (const [key, item] of Object.entries(value)) {
    if (forbiddenKeys.has(key)) throw new AppError('invalid_request', `the field name ${key} is not allowed`);
    checkText(key, where);
    checkJson(item, where === '' ? key : `${where}.${key}`, depth + 1);
  }
}

function checkText(text: string, where: string): void {
  const place = where === '' ? 'the body' : where.slice(0, 200);
  if (text.includes('\0')) throw new AppError('invalid_request', `${place}: NUL characters are not allowed`);
  if (/\p{Surrogate}/u.test(text)) throw new AppError('invalid_request', `${place}: the text is not well-formed Unicode`);
}
