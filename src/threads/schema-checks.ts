import { AppError, isAppError } from '../base/errors.js';
import type { JsonObject } from '../base/json.js';
import type { NamedSchema, ValueCheck } from '../base/json-schema.js';
import type { Threads } from './threads.js';

declare module './threads.js' {
  interface ThreadJobs {
    checkSchemas(schemas: readonly NamedSchema[]): string[];
    problemsOfValue(check: ValueCheck): string[];
  }
}

/** The time limit of one check in a thread, without the wait for the thread. */
const schemaCheckMs = 5000;

export type SchemaChecks = ReturnType<typeof createSchemaChecks>;

interface Checked {
  /** The value in the problems. */
  name: string;
  /** The organization. */
  owner: string;
}

/**
 * Checks JSON Schemas and values in threads, because who wrote them decides how long a check takes. All functions throw
 * AppError `unavailable` if no thread was free.
 */
export function createSchemaChecks(threads: Threads) {
  const late = (name: string) => [
    `${name}: could not be checked within ${schemaCheckMs / 1000} s; a pattern with a repetition inside a repetition can take that long`,
  ];
  /** A job that takes too long or too much memory ends with its thread, and fails for an internal reason. */
  async function orLate(check: Promise<string[]>, name: string): Promise<string[]> {
    return check.catch((error: unknown) => {
      if (isAppError(error) && error.code === 'internal_error') return late(name);
      throw error;
    });
  }
  const problemsOfValue = (schema: JsonObject, value: unknown, { name, owner }: Checked) =>
    orLate(threads.run('problemsOfValue', { schema, value, name }, { owner, timeoutMs: schemaCheckMs }), name);
  return {
    /** Why schemas cannot be used. */
    problemsOfSchemas: (schemas: readonly NamedSchema[], { owner }: { owner: string }): Promise<string[]> =>
      orLate(threads.run('checkSchemas', schemas, { owner, timeoutMs: schemaCheckMs }), 'the schemas'),
    /** Why a value does not match a schema. */
    problemsOfValue,
    /** @throws AppError with the code and all problems if the value does not match */
    async requireMatch(
      schema: JsonObject,
      value: unknown,
      { code = 'validation_failed', ...checked }: Checked & { code?: 'validation_failed' | 'output_invalid' },
    ): Promise<void> {
      const problems = await problemsOfValue(schema, value, checked);
      if (problems.length > 0) throw new AppError(code, problems.join('; '));
    },
  };
}
