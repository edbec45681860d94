import { ServiceError } from '@client/service-error.js';

interface RefusalByField {
  /** The validation error of each field. */
  fields: Readonly<Record<string, string>>;
  /** The error to show at the top of the form: whatever belongs to no field. */
  top: unknown;
}

/**
 * Assigns the problems in a validation error to the fields of a form. The API separates problems by `; ` and starts
 * each with the path of its value.
 * @param fieldOf returns the field that shows the problems of a path
 */
export function refusalByField(error: unknown, fieldOf: (path: string) => string | undefined): RefusalByField {
  if (!(error instanceof ServiceError)) return { fields: {}, top: error };
  const fields: Record<string, string> = {};
  const rest: string[] = [];
  let last: string | undefined;
  for (const part of error.error_description.split('; ')) {
    const [, paths, text = ''] = /^([\w.-]+(?:, [\w.-]+)*): (.+)$/s.exec(part) ?? [];
    // A part without a path continues the previous problem.
    const named = paths
      ?.split(', ')
      .map(fieldOf)
      .filter((name) => name !== undefined);
    if (paths === undefined && last !== undefined) fields[last] += `; ${part}`;
    else if (named?.length) {
      for (const name of named) fields[name] = fields[name] === undefined ? text : `${fields[name]}; ${text}`;
      last = named.at(-1);
    } else {
      last = undefined;
      rest.push(part);
    }
  }
  if (Object.keys(fields).length === 0) return { fields, top: error };
  const { status, error: code, lifecycle_id } = error;
  const description = rest.length > 0 ? rest.join('; ') : 'Some values are not valid. They are marked below.';
  return {
    fields,
    top: new ServiceError(status, {
      error: code,
      error_description: description,
      ...(lifecycle_id !== undefined && { lifecycle_id }),
    }),
  };
}
