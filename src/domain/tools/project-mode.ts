import { z } from 'zod';
import type { Principal } from '../../auth/principal.js';
import { AppError } from '../../base/errors.js';
import { textFacts } from '../../governance/operations/operation.js';
import { ProjectMode, readProjectMode, setProjectMode } from '../../graph/project-mode.js';
import { defineOperation } from '../operation.js';

const key = z.object({ projectId: z.string().min(1).max(200) });
const Mode = z.object({ mode: ProjectMode }).meta({ id: 'ProjectMode', example: { mode: 'governed' } });
const resource = (call: { key: z.infer<typeof key> }) => ({ type: 'project', id: call.key.projectId });

/** Reads the project's mode (docs/specification.md, `GET /v1/projects/{projectId}/mode`). */
export const readMode = defineOperation({
  name: 'get-project-mode',
  grant: 'svc:docs.read',
  right: ['read'],
  adminOnly: true,
  effect: 'read',
  tool: {
    title: 'Read the project mode',
    description:
      'Returns whether the project is simple or governed. In governed mode nothing is saved to its graph directly.',
    hints: { readOnly: true, destructive: false, idempotent: true },
  },
  key,
  output: Mode,
  resource,
  scopeOf: async ({ key: { projectId }, principal }) => requireSameProject(projectId, principal),
  dryRun: async () => ({ read: 'mode' }),
  run: async ({ deps, ctx }) => ({ mode: await readProjectMode(deps.mongo.collections, ctx.principal.projectId) }),
});

/** Sets the project's mode (docs/specification.md, `PUT /v1/projects/{projectId}/mode`). */
export const setMode = defineOperation({
  name: 'project-mode',
  grant: 'svc:ontology.write',
  adminOnly: true,
  effect: 'write',
  facts: textFacts('mode'),
  tool: {
    title: 'Set the project mode',
    description: 'Makes the project simple or governed; in governed mode nothing is saved to its graph directly.',
    hints: { readOnly: false, destructive: false, idempotent: true },
  },
  key,
  input: z.strictObject({ mode: ProjectMode }),
  output: Mode,
  resource,
  scopeOf: async ({ key: { projectId }, principal }) => requireSameProject(projectId, principal),
  dryRun: async ({ deps, ctx: { principal }, input }) => ({
    from: await readProjectMode(deps.mongo.collections, principal.projectId),
    to: input.mode,
  }),
  async run({ deps, ctx: { principal }, input: { mode } }) {
    const { projectId, organizationId, userId } = principal;
    await setProjectMode(deps.mongo.collections, { projectId, organizationId, userId }, mode);
    return { mode };
  },
});

/** @throws AppError `scope_denied` */
function requireSameProject(projectId: string, principal: Principal): Principal {
  if (projectId === principal.projectId) return principal;
  throw new AppError('scope_denied', 'the path must name the project of the credential and the workspace header');
}
