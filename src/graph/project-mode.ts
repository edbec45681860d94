import { z } from 'zod';
import { defineCollection, type Collections } from '../stores/collections.js';
import { createFreshReads } from '../stores/fresh-reads.js';
import { epochSeconds } from '../base/time.js';

/** The mode of a project. In `governed` mode, the policy engine refuses `save-context`. */
export const ProjectMode = z.enum(['simple', 'governed']);
export type ProjectMode = z.infer<typeof ProjectMode>;

/** The mode record of a project. `_id` is the project id. A project without a record is `simple`. */
interface ProjectModeDocument {
  _id: string;
  organization_id: string;
  mode: ProjectMode;
  updated_at: number;
  updated_by: string;
}

const modeOf = (record: ProjectModeDocument | null): ProjectMode => record?.mode ?? 'simple';

export async function readProjectMode(
  { project_modes }: Pick<Collections, 'project_modes'>,
  projectId: string,
): Promise<ProjectMode> {
  return modeOf(await project_modes.findOne({ _id: projectId }));
}

/** Creates a `readProjectMode` for frequent calls: concurrent calls share a round trip. */
export function createProjectModeReader({
  project_modes,
}: Pick<Collections, 'project_modes'>): (projectId: string) => Promise<ProjectMode> {
  const read = createFreshReads(project_modes);
  return async (projectId) => modeOf(await read(projectId));
}

export async function setProjectMode(
  collections: Pick<Collections, 'project_modes'>,
  place: { projectId: string; organizationId: string; userId: string },
  mode: ProjectMode,
): Promise<void> {
  const fields = { organization_id: place.organizationId, mode, updated_at: epochSeconds(), updated_by: place.userId };
  await collections.project_modes.updateOne({ _id: place.projectId }, { $set: fields }, { upsert: true });
}

export const projectModesCollection = defineCollection('project_modes', {});

declare module '../stores/collections.js' {
  interface Documents {
    project_modes: ProjectModeDocument;
  }
}
