import { memberOf } from '../../../auth/principal.js';
import { sha256Hex } from '../../../base/hash.js';
import type { KeepFiles } from '../../actions/operations/keep-files.js';
import type { Files } from '../create-files.js';

/** Stores files that a tool returned to a run, tagged with the execution, on behalf of the person of the run. */
export function createKeepForRun(files: Pick<Files, 'storeContents' | 'keep' | 'discard'>): KeepFiles {
  return async ({ executionId, connectorId, key, ...whose }, contents) => {
    const principal = memberOf(whose, ['svc:orchestrate.write']);
    const received = await files.storeContents(principal, contents);
    const fields = { tags: [`execution:${executionId}`], connector_id: connectorId };
    // A repeated call that returns other files is another upload.
    const upload = sha256Hex([key, ...received.map(({ sha256 }) => sha256)].join());
    try {
      const kept = await files.keep(received, { principal, key: upload, route: 'act.mcp', fields: fields });
      return kept.map(({ _id }) => _id);
    } catch (error) {
      await files.discard(received);
      throw error;
    }
  };
}
