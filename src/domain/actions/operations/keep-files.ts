/** A file in the result of a call. */
export interface ResultFile {
  name: string;
  content: Buffer;
}

/** The run that made the call. A repeat with the same key and contents stores nothing again. */
interface FilesOfRun {
  executionId: string;
  userId: string;
  organizationId: string;
  projectId: string;
  connectorId: string;
  key: string;
}

/** Stores the files of a result in the project of its run, and returns their ids. @throws AppError `plan_limit` */
export type KeepFiles = (of: FilesOfRun, files: readonly ResultFile[]) => Promise<string[]>;
