import { isUtf8 } from 'node:buffer';
import express, { type Request, type Response } from 'express';
import { AppError } from '../base/errors.js';
import { formOf } from '../base/form.js';
import { parseJson } from '../base/json.js';
import { bodyLimits, checkJson, checkValueCount, refuseRounded } from '../base/json-gate.js';
import { limitOfRoutes, parsedWith, readJson, isJsonType } from './json-body.js';
import { countParameters, maxParameters } from './limit-query.js';

const formType = /^application\/x-www-form-urlencoded\s*(;|$)/i;
const textType = /^(text\/|application\/([\w.+-]+\+)?xml\s*(;|$))/i;
const parseBytes = express.raw({ limit: limitOfRoutes, type: () => true });

/**
 * Reads a body of up to 1 MiB from a system whose format nobody chose: JSON, a form, or a text. A text that is a JSON object or list
 * is read as such, because some systems send JSON as `text/plain`.
 * @throws AppError `invalid_request` for other content types, and for what JSON bodies may not contain
 */
export async function readData(req: Request, res: Response): Promise<void> {
  const type = req.headers['content-type'] ?? 'text/plain';
  if (isJsonType(type)) return readJson(req, res);
  await parsedWith(parseBytes, req, res);
  const bytes: unknown = req.body;
  if (!Buffer.isBuffer(bytes) || bytes.length === 0) {
    req.body = undefined;
    return;
  }
  if (!isUtf8(bytes)) throw new AppError('invalid_request', 'the body is not valid UTF-8');
  if (formType.test(type)) req.body = formIn(bytes.toString());
  else if (textType.test(type)) req.body = jsonIn(bytes) ?? bytes.toString();
  else
    throw new AppError(
      'invalid_request',
      'the body must be JSON, a form (application/x-www-form-urlencoded) or a text',
    );
  checkJson(req.body);
}

function formIn(text: string): unknown {
  if (countParameters(text) > maxParameters)
    throw new AppError('invalid_request', `the form has more than ${maxParameters} fields`);
  return formOf(text);
}

/** Undefined for a text that is no JSON object or list. */
function jsonIn(bytes: Buffer): unknown {
  const text = bytes.toString();
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    checkValueCount(bytes, bodyLimits.values, refuseRounded);
    return parseJson(text);
  } catch {
    return undefined;
  }
}
