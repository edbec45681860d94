import { useSession } from './session.js';

/** From the lowest to the highest. */
export const roles = ['VIEWER', 'MEMBER', 'PROJECT_ADMIN', 'ORG_ADMIN', 'OWNER'] as const;
export type Role = (typeof roles)[number];

export const roleName = (role: string): string => role.toLowerCase().replaceAll('_', ' ');

export const rankOf = (role: string): number => roles.indexOf(role as Role);

export function useRole(): string {
  return useSession().session.project?.role ?? '';
}
