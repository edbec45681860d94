import { payloadDigest } from '../../governance/approvals/payload-digest.js';
import { AppError } from '../../errors.js';
import { validate } from '../../http/mount.js';
import type { ScopedCall, ValidatedCall } from '../call.js';
import { namesProject, projectRefused } from '../project-fields.js';

/**
 * S4: payload and query are validated.
 * - a client never names the project: 422 (specification, Query rules 3)
 * - the tool's schema, every wrong field named: 400
 * - the tool's own checks (query guard, ontology): 422
 */
export async function validateInput(call: ScopedCall): Promise<ValidatedCall> {
  const { tool, input, params, ctx } = call;
  if (!isRecord(input)) throw new AppError('invalid_request', 'body: must be an object');
  const named = Object.keys(input).find(namesProject);
  if (named !== undefined) throw projectRefused(named);
  const { dry_run: asked, ...fields } = input;
  if (asked !== undefined && typeof asked !== 'boolean') throw new AppError('invalid_request', 'dry_run: must be a boolean');
  const validInput = validate(tool.input, { ...fields, ...params }, 'invalid_request');
  return {
    ...call,
    validInput,
    prepared: await tool.prepare(validInput, ctx),
    dryRun: asked ?? false,
    resource: tool.resource(validInput),
    payloadDigest: payloadDigest(tool.name, validInput),
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
