import type { Wanted } from './kind.js';
import { isObject, type Json } from './shape.js';

/** Stands for a secret, in files and in answers of the service. */
export const stored = '[stored]';

interface Filled {
  content: Json;
  /** Why a secret is missing. */
  problem?: string;
}

/**
 * Returns the content of a connector with the secrets that the environment has. A secret that the service has already
 * stays as it is.
 */
export function withSecrets({ file, content, remote }: Wanted): Filled {
  const missing: string[] = [];
  const filled = (value: unknown, present: unknown, path: readonly string[]): unknown => {
    if (Array.isArray(value))
      return value.map((each: unknown, at) => filled(each, partOf(present, at), [...path, String(at)]));
    if (isObject(value))
      return Object.fromEntries(
        Object.entries(value).map(([name, each]) => [name, filled(each, partOf(present, name), [...path, name])]),
      );
    if (value !== stored) return value;
    const given = process.env[variableOf(file, path)];
    if (given) return given;
    if (present !== stored) missing.push(`${path.join('.')} in ${variableOf(file, path)}`);
    return stored;
  };
  const config = filled(content.config, remote?.content.config, ['config']);
  const callback_secret = filled(content.callback_secret, remote?.content.callback_secret, ['callback_secret']);
  return {
    content: {
      ...content,
      ...(config !== undefined && { config }),
      ...(callback_secret !== undefined && { callback_secret }),
    },
    ...(missing.length > 0 && {
      problem: `needs secrets, which files do not have; set ${missing.join(', ')} for this command`,
    }),
  };
}

/** Returns the name of the environment variable with a secret, such as `GCS_SECRET_MAIL_CONFIG_PASSWORD`. */
function variableOf(file: string, path: readonly string[]): string {
  return `GCS_SECRET_${[file, ...path]
    .join('_')
    .replace(/[^A-Za-z0-9]+/g, '_')
    .toUpperCase()}`;
}

function partOf(value: unknown, name: string | number): unknown {
  if (Array.isArray(value)) return value[Number(name)] as unknown;
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
