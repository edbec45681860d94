import type { Deps } from '../src/domain/deps.js';
import { closeProject } from '../src/domain/projects/removal.js';
import { cancelExecutions, removeContents, removeStarters } from '../src/domain/projects/remove-contents.js';
import type { ProjectRemovalActivities } from '../workflows/project-removal/activities.js';
import { withHeartbeat } from './with-heartbeat.js';

/** Removes everything that a deleted project has started. Safe to repeat: a repeat completes the removal. */
export function createProjectRemovalActivities(deps: Deps): ProjectRemovalActivities {
  return {
    closeProject: (project) => withHeartbeat(null, () => closeProject(deps, project)),
    removeStarters: (project) => withHeartbeat(null, () => removeStarters(deps, project)),
    removeKnowledgeOfProject: (project) => withHeartbeat(null, ({ signal }) => removeContents(deps, project, signal)),
    cancelExecutions: (project) => withHeartbeat(null, () => cancelExecutions(deps, project)),
  };
}
