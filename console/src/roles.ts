import { inWords } from './api.js';
import { useSession } from './session.js';

/** From the lowest to the highest, with what they permit. */
const permits = {
  VIEWER: 'reads everything except secrets',
  MEMBER: 'starts runs, and sees only their own',
  APPROVER: 'reads everything and decides',
  EDITOR: 'reads everything, starts runs, and changes flows, skills, schedules, connectors and data',
  PROJECT_ADMIN: 'may do everything in this project',
  ORG_ADMIN: 'may do everything in all projects of the organization',
  OWNER: 'may do everything, and changes the settings of the organization',
} as const;
export type Role = keyof typeof permits;
export const roles = Object.keys(permits) as Role[];

export const roleName = (role: string): string => inWords(role.toLowerCase());
export const roleNames = (several: readonly string[]): string => several.map(roleName).join(', ');
export const roleText = (role: Role): string => `${roleName(role)}: ${permits[role]}`;

export const rankOf = (role: string): number => roles.indexOf(role as Role);

/** The highest role of the person in this project. */
export function useRole(): string {
  return useSession().session.project?.role ?? '';
}
