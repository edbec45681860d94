import type { RequestHandler } from 'express';
import { isJsonObject, type JsonObject } from '../../base/json.js';
import { withoutNulls, withoutNullsInside } from '../../outbound/without-nulls.js';

/**
 * Removes members that are null from the parameters of MCP messages, because many serializers write null for a member that
 * is absent. In `initialize` it does so at every level; elsewhere, deeper members are arguments of tools, which can be null.
 */
export const withoutNullParams: RequestHandler = (req, _res, next) => {
  const body: unknown = req.body;
  req.body = Array.isArray(body) ? body.map(readMessage) : readMessage(body);
  next();
};

function readMessage(message: unknown): unknown {
  if (!isJsonObject(message) || typeof message.method !== 'string') return message;
  const { params = null, ...rest } = message;
  if (params === null) return rest;
  if (!isJsonObject(params)) return message;
  if (message.method === 'initialize') return { ...rest, params: readInitialize(params) };
  const { _meta, ...members } = withoutNulls(params);
  return { ...rest, params: { ...members, ...(isJsonObject(_meta) && { _meta: withoutNulls(_meta) }) } };
}

/** Some clients do not name their version, which the protocol requires but nothing needs. */
function readInitialize(params: JsonObject): JsonObject {
  const { clientInfo, ...rest } = withoutNullsInside(params);
  const named = isJsonObject(clientInfo) ? { name: '', version: '', ...clientInfo } : clientInfo;
  return { ...rest, ...(named !== undefined && { clientInfo: named }) };
}
