import { AppError } from '../../base/errors.js';

const projectFields = new Set(['project_id', 'project_ids', 'projectid', 'projectids']);

/** Whether a field names the project of the call. A client must not set it (specification, Query rules 3). */
export function namesProject(field: string): boolean {
  return projectFields.has(field.toLowerCase());
}

export function projectRefused(place: string): AppError {
  return new AppError('invalid_input', `${place}: the project comes from the credential and the workspace header`);
}
