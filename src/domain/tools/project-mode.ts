import { textFacts } from '../../governance/operations/operation.js';
import { z } from 'zod';
import { ProjectMode, readProjectMode, setProjectMode } from '../../graph/project-mode.js';
import type { Collections } from '../../stores/collections.js';
import { defineTool } from '../../governance/tools/tool.js';

const path = '/v1/projects/{projectId}/mode';
const projectId = z.string().min(1).max(200);
const Mode = z.object({ mode: ProjectMode }).meta({ id: 'ProjectMode', example: { mode: 'governed' } });

interface ProjectModeDeps {
  collections: Pick<Collections, 'project_modes'>;
}

/** Reads the project's mode (contract, `GET /v1/projects/{projectId}/mode`). */
export const readProjectModeTool = defineTool(
  { name: 'get-project-mode', grant: 'svc:docs.read', right: ['read'], adminOnly: true, effect: 'read', facts: {} },
  ({ collections }: ProjectModeDeps) => ({
    title: 'Read the project mode',
    description:
      'Returns whether the project is simple or governed. In governed mode nothing is saved to its graph directly.',
    rest: { method: 'get', path },
    input: z.strictObject({ projectId }),
    output: Mode,
    hints: { readOnly: true, destructive: false, idempotent: true },
    resource: (input) => ({ type: 'project', id: input.projectId }),
    dryRun: async () => ({ read: 'mode' }),
    execute: async (_, ctx) => ({ body: { mode: await readProjectMode(collections, ctx.projectId) } }),
  }),
);

/** Sets the project's mode (contract, `PUT /v1/projects/{projectId}/mode`). */
export const projectModeTool = defineTool(
  { name: 'project-mode', grant: 'svc:ontology.write', adminOnly: true, effect: 'write', facts: textFacts('mode') },
  ({ collections }: ProjectModeDeps) => ({
    title: 'Set the project mode',
    description: 'Makes the project simple or governed; in governed mode nothing is saved to its graph directly.',
    rest: { method: 'put', path },
    input: z.strictObject({ projectId, mode: ProjectMode }),
    output: Mode,
    hints: { readOnly: false, destructive: false, idempotent: true },
    resource: (input) => ({ type: 'project', id: input.projectId }),
    dryRun: async ({ mode }, ctx) => ({ from: await readProjectMode(collections, ctx.projectId), to: mode }),
    async execute({ mode }, ctx) {
      await setProjectMode(
        collections,
        { projectId: ctx.projectId, organizationId: ctx.organizationId, userId: ctx.principal.userId },
        mode,
      );
      return { body: { mode } };
    },
  }),
);
