import type { Request } from 'express';
import type { Principal } from '../auth/principal.js';
import { AppError } from '../errors.js';
import type { Route } from '../http/define-route.js';

/** How a request may call the project. */
export const projectNames = ['projectID', 'projectId', 'project_id'];
const executionNames = ['execution_id'];

/**
 * Identifiers that a request names in path, query and body must agree (400), and the project must be the
 * credential's (403) (contract, Conventions).
 */
export function checkProjectScope(route: Route, principal: Principal, req: Request): void {
  const project = agreed(req, projectNames);
  agreed(req, executionNames);
  if (route.scope === 'organization' || project === undefined || project === principal.projectId) return;
  throw new AppError('access_denied', 'this credential does not reach that project');
}

function agreed(req: Request, names: readonly string[]): string | undefined {
  const sources: unknown[] = [req.params, req.query, req.body];
  const found = sources.flatMap((source) => names.map((name) => read(source, name))).filter((value) => value !== undefined);
  const [first] = found;
  if (first !== undefined && typeof first !== 'string') throw new AppError('invalid_request', `${names[0]}: must be a string`);
  if (found.some((value) => value !== first)) throw new AppError('invalid_request', `${names[0]}: path, query and body do not agree`);
  return first;
}

function read(source: unknown, name: string): unknown {
  return typeof source === 'object' && source !== null && Object.hasOwn(source, name) ? (source as Record<string, unknown>)[name] : undefined;
}
