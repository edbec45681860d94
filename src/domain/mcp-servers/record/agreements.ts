import { z } from 'zod';
import { defineCollection } from '../../../stores/collections.js';
import { EpochSeconds } from '../../../base/time.js';

/**
 * A person lets runs of exactly this content use their account at an MCP server, although other people edited it. `_id` is the
 * SHA-256 of connector, person and content. Times are epoch seconds.
 */
export interface McpAgreementDocument {
  _id: string;
  connector_id: string;
  project_id: string;
  user_id: string;
  agentflow_id: string;
  agentflow_name: string;
  /** The run whose content the person read. */
  execution_id: string;
  content_digest: string;
  /** The people who had edited the content. */
  changed_by: string[];
  agreed_at: number;
  /** The `authorized_at` of the account. Another authorization needs other agreements. */
  authorized_at: number;
}

const exampleDigest = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';
const example = {
  ...{ agreement_id: exampleDigest, connector_id: '0199a6f0-9d2c-7e14-8a6b-1d3c5e7f9a10' },
  ...{ agentflow_id: '0199a6f0-71be-7d02-9a4e-5b1f0c2d3e4f', agentflow_name: 'Weekly report' },
  ...{ execution_id: '0199a6f0-5a3c-7c11-8d52-3f6f0e6f7a10', content_digest: exampleDigest },
  ...{ changed_by: ['user-2'], agreed_at: 1_764_000_000, is_in_force: true },
};

export const McpAgreement = z
  .object({
    agreement_id: z.string(),
    connector_id: z.string(),
    agentflow_id: z.string(),
    agentflow_name: z.string(),
    execution_id: z.string().describe('The run whose content the person read.'),
    content_digest: z
      .string()
      .describe('The digest of the agentflow, its skills and the configuration of its connectors.'),
    changed_by: z.array(z.string()).describe('The people who had changed the content.'),
    agreed_at: EpochSeconds,
    is_in_force: z.boolean().describe('False after the person authorized another time, or withdrew the authorization.'),
  })
  .meta({ id: 'McpAgreement', example });
export type McpAgreement = z.infer<typeof McpAgreement>;

/** What a person would agree to. */
export const McpAgreementOffer = z
  .object({
    connector_id: z.string(),
    server: z.string().describe('The address of the MCP server.'),
    agentflow_id: z.string(),
    agentflow_name: z.string(),
    execution_id: z.string(),
    content_digest: McpAgreement.shape.content_digest,
    changed_by: z.array(z.object({ user_id: z.string(), name: z.string() })),
    tools: z.array(z.string()).describe('The tools of the server that the content may call.'),
    text: z.string().describe('What the person agrees to, in words.'),
    agreement_id: z.string().nullable().describe('The agreement in force, if there is one.'),
  })
  .meta({
    id: 'McpAgreementOffer',
    example: {
      ...{ connector_id: example.connector_id, server: 'https://mcp.example.com/mcp' },
      ...{ agentflow_id: example.agentflow_id, agentflow_name: example.agentflow_name },
      ...{ execution_id: example.execution_id, content_digest: exampleDigest },
      ...{ changed_by: [{ user_id: 'user-2', name: 'Grace Hopper' }], tools: ['find_ticket'] },
      ...{ text: 'The agentflow was changed by Grace Hopper.', agreement_id: null },
    },
  });
export type McpAgreementOffer = z.infer<typeof McpAgreementOffer>;

export const NewMcpAgreement = z
  .strictObject({
    projectID: z.string().optional(),
    execution_id: z.string().max(200).describe('A run that acts for the caller, whose content the caller read.'),
    content_digest: z
      .string()
      .max(64)
      .describe('The digest of what the caller read. If it changed, the answer is 409.'),
  })
  .meta({ id: 'McpAgreementInput', example: { execution_id: example.execution_id, content_digest: exampleDigest } });

export const mcpAgreementsCollection = defineCollection('mcp_agreements', {
  indexes: [{ keys: { connector_id: 1, user_id: 1, agreed_at: -1, _id: -1 } }],
  majorityRead: true,
});

declare module '../../../stores/collections.js' {
  interface Documents {
    mcp_agreements: McpAgreementDocument;
  }
}
