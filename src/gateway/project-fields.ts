import { AppError } from '../errors.js';

const projectFields = new Set(['project_id', 'project_ids', 'projectid', 'projectids']);

/** Whether a field would name the call's project, which is never the client's to name (specification, Query rules 3). */
export function namesProject(field: string): boolean {
  return projectFields.has(field.toLowerCase());
}

export function projectRefused(place: string): AppError {
  return new AppError('S4:validate-input', `${place}: the project comes from the credential and the workspace header`);
}
