import { withScopesInReach } from '../../auth/oauth/scopes.js';
import { permits, type Principal } from '../../auth/principal.js';
import { permissionOf } from '../../governance/operations/operation.js';
import type { DomainTool } from '../../domain/operation.js';
import { tools } from '../../domain/tools/tools.js';
import { toolNamed } from '../../governance/tools/tool.js';
import type { Exchange } from './exchange.js';
import type { Govern } from './mcp-tool.js';
import { rpcCodes, rpcError } from './rpc-errors.js';

const mimeType = 'application/json';

/** A governed call that has not been made yet. */
export interface ResourceRead {
  tool: DomainTool;
  input: Record<string, unknown>;
}

/** The governed call that reads each resource. */
const readings = {
  'context://ontology': {
    tool: 'ontology',
    input: {},
    title: 'Ontology',
    description: 'The entity and relationship types in force, the draft and the versions.',
  },
  'context://governance': {
    tool: 'docs',
    input: { topic: 'governance' },
    title: 'Governance',
    description: 'The current credential, grants, quota, mode and stages.',
  },
};

export function createContextResources(govern: Govern) {
  const known = Object.entries(readings).map(([uri, { tool, input, title, description }]) => {
    const resource = { uri, name: uri.replace('context://', ''), title, description, mimeType };
    return { resource, reading: { tool: toolNamed(tools, tool), input } };
  });
  const reading = (uri: string) => known.find(({ resource }) => resource.uri === uri)?.reading;
  return {
    list: (principal: Principal) =>
      known
        .filter(({ reading }) =>
          permits(withScopesInReach(principal), permissionOf(reading.tool.caseOf(reading.input).operation)),
        )
        .map(({ resource }) => resource),
    /** Returns the call that reads the resource. */
    reading,
    async read(uri: string, exchange: Exchange) {
      const found = reading(uri);
      if (!found)
        throw rpcError(rpcCodes.resourceNotFound, `the resource ${uri.slice(0, 200)} does not exist`, {
          uri: uri.slice(0, 200),
        });
      const body = await readGoverned(found, govern, exchange);
      return { uri, mimeType, text: JSON.stringify(body) };
    },
  };
}

/**
 * Reads a resource.
 * @throws a JSON-RPC error if the call is refused or held, because a resource cannot carry a refusal
 */
export async function readGoverned(
  { tool, input }: ResourceRead,
  govern: Govern,
  exchange: Exchange,
): Promise<Record<string, unknown>> {
  const { kind, body } = await govern(tool, input, exchange);
  if (kind === 'answer') return body;
  throw rpcError(rpcCodes.server, String(body.error_description ?? body.how_to_finish), body);
}
