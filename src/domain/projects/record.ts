import { defineCollection } from '../../stores/collections.js';
import { z } from 'zod';
import { ListQuery } from '../../stores/lists.js';
import { exampleId } from '../../base/ids.js';
import { VisibleText } from '../../base/validation.js';

const ProjectName = VisibleText.normalize().min(1).max(200);
const Description = z.string().max(10_000);
/** `archived` is for filtering lists and has no other effect. */
const OpenStatus = z.enum(['active', 'archived']);

export const Project = z
  .object({
    _id: z.string(),
    name: z.string().describe('Unique within the organization.'),
    description: z.string(),
    organization_id: z.string(),
    department_id: z.string(),
    user_id: z.string().describe('The user who created the project.'),
    status: z.enum([...OpenStatus.options, 'deleted']).describe('`deleted` occurs only in the response to DELETE.'),
    created_at: z.number().describe('Epoch seconds.'),
    updated_at: z.number().describe('Epoch seconds.'),
  })
  .meta({
    id: 'Project',
    example: {
      _id: exampleId,
      name: 'Claims desk',
      description: 'Coworkers that prepare claims for review',
      organization_id: 'org_1',
      department_id: 'dept_1',
      user_id: 'user_1',
      status: 'active',
      created_at: 1763683200.125,
      updated_at: 1763683200.125,
    },
  });
export type Project = z.infer<typeof Project>;

export const NewProject = z
  .strictObject({ name: ProjectName, description: Description.default(''), organization_id: z.string().optional() })
  .meta({
    id: 'ProjectInput',
    example: { name: 'Claims desk', description: 'Coworkers that prepare claims for review' },
  });

export const ProjectPatch = z
  .strictObject({ name: ProjectName, description: Description, status: OpenStatus })
  .partial()
  .meta({ id: 'ProjectPatch', example: { description: 'Claims of the northern region' } });

export const ProjectQuery = ListQuery.extend({
  status: OpenStatus.optional(),
  userId: z.string().optional().describe('Only projects that this user created.'),
  organization_id: z.string().optional(),
});
export type ProjectQuery = z.infer<typeof ProjectQuery>;

export type ProjectSeed = Pick<Project, '_id' | 'name' | 'organization_id' | 'department_id' | 'user_id'> & {
  description?: string;
};

export const projectsCollection = defineCollection('projects', {
  indexes: [
    { keys: { organization_id: 1, name: 1 }, options: { unique: true } },
    { keys: { organization_id: 1, _id: -1 } },
    { keys: { organization_id: 1, user_id: 1, _id: -1 } },
  ],
});

declare module '../../stores/collections.js' {
  interface Documents {
    projects: Project;
  }
}
