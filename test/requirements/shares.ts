import type { Requirement } from './requirement.js';

/** Requirements of resources that organizations share. */
export const shares = [
  {
    id: 'shares.steps',
    source: 'docs/guides/scale-out.md',
    says: 'Steps of one organization use at most a third of the slots of a worker, and those of others run while they hang; the rest waits and then runs.',
  },
  {
    id: 'shares.questions',
    source: 'docs/guides/mcp-servers.md',
    says: 'A call of an MCP tool holds no slot of the worker while it waits for the answer of a person.',
  },
  {
    id: 'shares.turns',
    source: 'docs/guides/scale-out.md',
    says: 'A free turn goes to the owner that runs least, and then to the one whose last turn is longest ago.',
  },
  {
    id: 'shares.threads',
    source: 'docs/guides/scale-out.md',
    says: 'Thread jobs of one organization run one at a time, and those of others run while they hang.',
  },
  {
    id: 'shares.documents',
    source: 'docs/guides/knowledge-base.md',
    says: 'A document that takes long is stopped after 30 s and repeated apart, so that it delays no other organization.',
  },
  {
    id: 'shares.embeddings',
    source: 'docs/guides/scale-out.md',
    says: 'The requests to the embedding endpoint alternate between organizations.',
  },
  {
    id: 'knowledge.nested-html',
    source: 'docs/guides/knowledge-base.md',
    says: 'HTML with elements nested too deeply is refused without converting it.',
  },
  {
    id: 'mcp-client.process-owners',
    source: 'docs/guides/mcp-servers.md',
    says: 'Only the organizations and projects that an entry of MCP_STDIO_COMMANDS names can use its command.',
  },
  {
    id: 'mcp-client.process-apart',
    source: 'docs/guides/mcp-servers.md',
    says: 'The processes of each project have their own working folder and HOME, which only the worker can read.',
  },
] as const satisfies readonly Requirement[];
