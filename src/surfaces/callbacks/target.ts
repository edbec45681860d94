import { AppError } from '../../base/errors.js';

const segment = '[A-Za-z0-9_-]{1,128}';
/** Excludes percent signs, dots, backslashes, `@`, empty segments and non-ASCII, so that nothing needs decoding. */
const plainPath = new RegExp(`^(?:/${segment})+$`);

interface Target<R> {
  route: R;
  params: Record<string, string>;
}

/**
 * Creates a function that finds the route of an unmodified request target (RFC 9112, 3.2). It ignores the query.
 * @returns a function that returns undefined unless the target is exactly one of the paths
 */
export function createTargets<R extends { path: string }>(
  routes: readonly R[],
): (rawTarget: string) => Target<R> | undefined {
  const patterns = routes.map((route) => ({ route, parts: route.path.slice(1).split('/') }));
  return (rawTarget) => {
    const [path = ''] = rawTarget.split('?', 1);
    if (!plainPath.test(path)) return undefined;
    const segments = path.slice(1).split('/');
    for (const { route, parts } of patterns) {
      const params = match(parts, segments);
      if (params) return { route, params };
    }
    return undefined;
  };
}

/**
 * Builds the path to forward to from the route and the values of its placeholders.
 * @throws AppError `not_found` if the result is outside the route's prefix
 */
export function pathOf(route: string, params: Readonly<Record<string, string>>): string {
  const path = route.replace(/\{(\w+)\}/g, (_whole, name: string) => params[name] ?? '');
  const prefix = route.slice(0, Math.max(route.indexOf('{'), 0)) || route;
  if (!plainPath.test(path) || !path.startsWith(prefix)) throw new AppError('not_found', 'no such path');
  return path;
}

function match(parts: readonly string[], segments: readonly string[]): Record<string, string> | undefined {
  if (parts.length !== segments.length) return undefined;
  const params: Record<string, string> = {};
  for (const [at, part] of parts.entries()) {
    const value = segments[at] ?? '';
    if (part.startsWith('{')) params[part.slice(1, -1)] = value;
    else if (part !== value) return undefined;
  }
  return params;
}
