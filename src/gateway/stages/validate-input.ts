import type { z } from 'zod';
import { payloadDigest } from '../../governance/approvals/payload-digest.js';
import { AppError } from '../../errors.js';
import type { ScopedCall, ValidatedCall } from '../call.js';

export const projectFields: readonly string[] = ['project_id', 'projectID', 'projectId', 'project_ids'];

/**
 * S4: payload and query are validated.
 * - a client never names the project: 422 (specification, Query rules 3)
 * - the tool's schema, every wrong field named: 400
 * - the tool's own checks (query guard, ontology): 422
 */
export async function validateInput(call: ScopedCall): Promise<ValidatedCall> {
  const { tool, input, params, ctx } = call;
  refuseProjectFields(input);
  if (!isRecord(input)) throw new AppError('invalid_request', 'body: must be an object');
  const { dry_run: asked, ...fields } = input;
  if (asked !== undefined && typeof asked !== 'boolean') throw new AppError('invalid_request', 'dry_run: must be a boolean');
  const parsed = tool.input.safeParse({ ...fields, ...params });
  if (!parsed.success) throw new AppError('invalid_request', problemsOf(parsed.error));
  const prepared = await tool.prepare(parsed.data, ctx);
  return {
    ...call,
    validInput: parsed.data,
    prepared,
    dryRun: asked ?? false,
    resource: tool.resource(parsed.data),
    payloadDigest: payloadDigest(tool.name, parsed.data),
  };
}

function refuseProjectFields(input: unknown): void {
  if (!isRecord(input)) return;
  const named = projectFields.find((field) => Object.hasOwn(input, field));
  if (named !== undefined) throw new AppError('S4:validate-input', `${named}: the project comes from the credential and the workspace header`);
}

function problemsOf(error: z.ZodError): string {
  return error.issues
    .slice(0, 20)
    .map((issue) => `${issue.path.join('.') || 'body'}: ${issue.message}`)
    .join('; ');
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
