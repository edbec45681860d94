import type { ProjectRemovalInput } from './messages.js';

/** All are safe to repeat. */
export interface ProjectRemovalActivities {
  /** Revokes the project's credentials and removes it from reads and lists. */
  closeProject(project: ProjectRemovalInput): Promise<void>;
  /** Removes everything that starts runs: agentflows, schedules with their runs, connectors with their data loaders and triggers, repositories. */
  removeStarters(project: ProjectRemovalInput): Promise<void>;
  /** Cancels the executions that have not ended. */
  cancelExecutions(project: ProjectRemovalInput): Promise<{ cancelled: number }>;
  /** Removes the context graph with vectors and personal values, the remembered texts, the exchanges of steps, the tables and the files. */
  removeKnowledgeOfProject(project: ProjectRemovalInput): Promise<void>;
}
