import { isRefusal } from '../../base/errors.js';
import type { ActionCall, ActionDeps } from './action-call.js';
import type { ResultFile } from './operations/keep-files.js';

/** Bytes in a result, and the member of the result that describes them. */
export interface DescribedFile extends ResultFile {
  shownAs: Record<string, unknown>;
}

/**
 * Stores the files of a result, and adds `file_id` or `file_error` to their descriptions. The receiver has acted, so a file
 * that cannot be stored does not fail the call.
 */
export async function keepResultFiles(
  deps: Pick<ActionDeps, 'keepFiles' | 'log'>,
  { run, project_id, idempotency_key }: ActionCall['request'],
  connectorId: string,
  files: readonly DescribedFile[],
): Promise<void> {
  if (!run || files.length === 0) return;
  const { execution_id: executionId, executed_by: userId, organization_id: organizationId } = run;
  const of = { executionId, userId, organizationId, projectId: project_id, connectorId, key: idempotency_key };
  try {
    const ids = await deps.keepFiles(of, files);
    files.forEach(({ shownAs }, at) => Object.assign(shownAs, { file_id: ids[at] }));
  } catch (error) {
    if (!isRefusal(error)) deps.log.error({ err: error, run: executionId }, 'the files of a result were not stored');
    const file_error = isRefusal(error) ? error.message : 'the file could not be stored';
    for (const { shownAs } of files) Object.assign(shownAs, { file_error });
  }
}
