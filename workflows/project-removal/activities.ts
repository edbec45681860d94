import type { ProjectRemovalInput } from './messages.js';

/** Each may be repeated. */
export interface ProjectRemovalActivities {
  /** Ends the project's credentials and takes it out of reads and lists. */
  closeProject(project: ProjectRemovalInput): Promise<void>;
  /** Takes away all that starts runs: agentflows, schedules with their runs, connectors with their data loaders and triggers, repositories. */
  removeStarters(project: ProjectRemovalInput): Promise<void>;
  /** Cancels the executions that have not ended. */
  cancelExecutions(project: ProjectRemovalInput): Promise<{ cancelled: number }>;
}
