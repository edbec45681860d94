import { WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { mcpToolsType, type McpToolsInput } from '../../../workflows/mcp-tools/messages.js';
import { attributePairs } from '../../../workflows/search-attributes.js';
import type { ErrorCode } from '../../base/error-catalog.js';
import { AppError } from '../../base/errors.js';
import { newId } from '../../base/ids.js';
import type { ConnectorDocument } from '../connectors/record.js';
import type { Deps } from '../deps.js';
import type { LiveTool } from './record.js';

/** Longer than the activity may take. */
const timeoutMs = 45_000;

/** Maps the code of a worker's failure to the code that callers receive. Other failures are `unavailable`. */
const codes: Readonly<Record<string, ErrorCode>> = {
  not_found: 'not_found',
  unconfigured: 'unconfigured',
  validation_failed: 'validation_failed',
  target_refused: 'validation_failed',
  too_large: 'validation_failed',
  action_refused: 'validation_failed',
  authorization_needed: 'validation_failed',
};

/**
 * The tools that the connector's server offers this person now. A worker reads them, because only workers can reach MCP
 * servers.
 * @throws AppError `validation_failed` if the server refuses or cannot be used, `unconfigured`, `unavailable`
 */
export async function askForTools(
  { temporal }: Pick<Deps, 'temporal'>,
  { _id, name, projectID, organization_id }: ConnectorDocument,
  userId: string,
): Promise<LiveTool[]> {
  const input: McpToolsInput = { connector_id: _id, project_id: projectID, user_id: userId };
  try {
    const found: unknown = await temporal.wait(
      (client) =>
        client.workflow.execute(mcpToolsType, {
          taskQueue: temporal.taskQueue,
          workflowId: `mcp-tools/${_id}/${newId()}`,
          workflowExecutionTimeout: timeoutMs,
          args: [input],
          memo: { project: projectID },
          staticSummary: `Read the tools of ${name}`.slice(0, 200),
          typedSearchAttributes: attributePairs({ projectId: projectID, organizationId: organization_id }),
        }),
      timeoutMs,
    );
    return found as LiveTool[];
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error;
    const { cause } = error;
    const type = cause instanceof ApplicationFailure ? (cause.type ?? '') : '';
    const message = cause instanceof ApplicationFailure ? cause.message : 'no worker read the tools in time';
    throw new AppError(codes[type] ?? 'unavailable', message);
  }
}
