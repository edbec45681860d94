import type { Grant } from '../../auth/grants.js';
import type { Principal } from '../../auth/principal.js';
import { toolNamed, type Tool } from '../tool.js';
import type { Exchange } from './exchange.js';
import type { Govern } from './mcp-tool.js';
import { rpcCodes, rpcError } from './rpc-errors.js';

export interface ContextResource {
  uri: string;
  name: string;
  title: string;
  description: string;
  mimeType: 'application/json';
}

interface Reading {
  tool: Tool;
  input: Record<string, unknown>;
}

/** What a resource is read by: a governed call like any other. */
const readings = {
  'context://ontology': { tool: 'ontology', input: {}, title: 'Ontology', description: 'The entity and relationship types in force, the draft and the versions.' },
  'context://governance': { tool: 'docs', input: { topic: 'governance' }, title: 'Governance', description: 'Credential, grants, quota, mode and stages as they are now.' },
};

export interface ContextResources {
  list(principal: Principal): ContextResource[];
  read(uri: string, exchange: Exchange): Promise<{ uri: string; mimeType: string; text: string }>;
}

export function createContextResources(tools: readonly Tool[], govern: Govern): ContextResources {
  const known = Object.entries(readings).map(([uri, { tool, input, title, description }]) => {
    const resource: ContextResource = { uri, name: uri.replace('context://', ''), title, description, mimeType: 'application/json' };
    return { resource, reading: { tool: toolNamed(tools, tool), input } };
  });
  return {
    list: (principal) => known.filter(({ reading }) => principal.grants.includes(grantOf(reading))).map(({ resource }) => resource),
    async read(uri, exchange) {
      const found = known.find(({ resource }) => resource.uri === uri);
      if (!found) throw rpcError(rpcCodes.invalidParams, `there is no resource ${uri.slice(0, 200)}`, { uri: uri.slice(0, 200) });
      const body = await readGoverned(found.reading, govern, exchange);
      return { uri, mimeType: 'application/json', text: JSON.stringify(body) };
    },
  };
}

/** @throws a JSON-RPC error where the call is refused or held: a resource has no other way to say so */
export async function readGoverned({ tool, input }: Reading, govern: Govern, exchange: Exchange): Promise<Record<string, unknown>> {
  const { kind, body } = await govern(tool, input, exchange);
  if (kind === 'answer') return body;
  throw rpcError(rpcCodes.server, String(body.error_description ?? body.how_to_finish), body);
}

function grantOf({ tool, input }: Reading): Grant {
  return typeof tool.grant === 'string' ? tool.grant : tool.grant(input);
}
