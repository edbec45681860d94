import { findActiveProject } from '../../auth/project-roles.js';
import type { Config } from '../../config.js';
import { AppError } from '../../base/errors.js';
import { readWorkspace } from '../workspace/record.js';
import type { Mongo } from '../../stores/mongo.js';
import type { CatalogScope } from '../../../workflows/catalog-sync/messages.js';

/**
 * The project that receives the catalog: `CATALOG_PROJECT_ID`, or the seeded project if that is not set.
 * @throws AppError `unconfigured` if this project does not exist
 */
export function createCatalogScope({ config, mongo }: { config: Config; mongo: Mongo }): () => Promise<CatalogScope> {
  let known: CatalogScope | undefined;
  return async () => {
    known ??= await find(config, mongo);
    if (known && !(await findActiveProject(mongo.collections, known.project_id))) known = undefined;
    if (!known) throw new AppError('unconfigured', 'no project is configured for the catalog');
    return known;
  };
}

async function find({ catalog, dataDir }: Config, { collections }: Mongo): Promise<CatalogScope | undefined> {
  if (catalog.projectId === undefined) {
    const workspace = await readWorkspace(dataDir);
    return workspace && { project_id: workspace.project_id, organization_id: workspace.organization_id };
  }
  const project = await findActiveProject(collections, catalog.projectId);
  return project ? { project_id: project._id, organization_id: project.organization_id } : undefined;
}
