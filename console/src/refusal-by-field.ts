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
    const named = paths?.split(', ').flatMap((path) => {
      const name = fieldOf(path);
      return name === undefined ? [] : [{ name, problem: placeIn(name, path) + text }];
    });
    if (paths === undefined && last !== undefined) fields[last] += `; ${part}`;
    else if (named?.length) {
      for (const { name, problem } of named)
        fields[name] = fields[name] === undefined ? problem : `${fields[name]}; ${problem}`;
      last = named.at(-1)?.name;
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

/**
 * A field can have a structure, such as a filter. Then the problem begins with the place in it: `“price.gte” `. The indexes
 * of lists count from 0, so they are left out.
 */
function placeIn(field: string, path: string): string {
  const parts = path.split('.');
  const at = parts.lastIndexOf(field.split('.').at(-1) ?? '');
  const names = at < 0 ? [] : parts.slice(at + 1).filter((part) => !/^\d+$/.test(part));
  return names.length === 0 ? '' : `“${names.join('.')}” `;
}
