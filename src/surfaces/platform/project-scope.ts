import type { Request } from 'express';
import type { Principal } from '../../auth/principal.js';
import { AppError } from '../../base/errors.js';
import type { Route } from '../rest/define-route.js';

/** The names of the project identifier in requests. */
export const projectNames = ['projectID', 'projectId', 'project_id'];
const executionNames = ['execution_id'];

/** Refuses identifiers that disagree in path, query and body (400), and the project of another credential (403). */
export function checkProjectScope(route: Route, principal: Principal, req: Request): void {
  const project = requireAgreement(req, projectNames);
  requireAgreement(req, executionNames);
  if (route.scope === 'organization' || project === undefined || project === principal.projectId) return;
  throw new AppError('access_denied', 'the credential has no access to this project');
}

function requireAgreement(req: Request, names: readonly string[]): string | undefined {
  const sources: unknown[] = [req.params, req.query, req.body];
  const found = sources
    .flatMap((source) => names.map((name) => read(source, name)))
    .filter((value) => value !== undefined);
  const [first] = found;
  if (first !== undefined && typeof first !== 'string')
    throw new AppError('invalid_request', `${names[0]}: must be a string`);
  if (found.some((value) => value !== first))
    throw new AppError('invalid_request', `${names[0]}: must be the same in path, query and body`);
  return first;
}

function read(source: unknown, name: string): unknown {
  return typeof source === 'object' && source !== null && Object.hasOwn(source, name)
    ? (source as Record<string, unknown>)[name]
    : undefined;
}
