import { acts } from './requirements/acts.js';
import { agents } from './requirements/agents.js';
import { approvals } from './requirements/approvals.js';
import { authentication } from './requirements/authentication.js';
import { callbacks } from './requirements/callbacks.js';
import { consoleApp } from './requirements/console.js';
import { conventions } from './requirements/conventions.js';
import { decisions } from './requirements/decisions.js';
import { embeddings } from './requirements/embeddings.js';
import { errors } from './requirements/errors.js';
import { executions } from './requirements/executions.js';
import { flows } from './requirements/flows.js';
import { gateway } from './requirements/gateway.js';
import { governance } from './requirements/governance.js';
import { mcp } from './requirements/mcp.js';
import { mcpClient } from './requirements/mcp-client.js';
import { memory } from './requirements/memory.js';
import { oauth } from './requirements/oauth.js';
import { operations } from './requirements/operations.js';
import { platformData } from './requirements/platform-data.js';
import { policies } from './requirements/policies.js';
import { projectsAgentflows } from './requirements/projects-agentflows.js';
import { cli } from './requirements/cli.js';
import { releases } from './requirements/releases.js';
import type { Requirement } from './requirements/requirement.js';
import { retrieval } from './requirements/retrieval.js';
import { shares } from './requirements/shares.js';
import { stack } from './requirements/stack.js';
import { store } from './requirements/store.js';
import { work } from './requirements/work.js';

const all = [
  ...shares,
  ...stack,
  ...operations,
  ...consoleApp,
  ...conventions,
  ...projectsAgentflows,
  ...cli,
  ...releases,
  ...executions,
  ...flows,
  ...gateway,
  ...governance,
  ...approvals,
  ...decisions,
  ...policies,
  ...authentication,
  ...errors,
  ...oauth,
  ...mcp,
  ...mcpClient,
  ...memory,
  ...callbacks,
  ...work,
  ...agents,
  ...acts,
  ...platformData,
  ...embeddings,
  ...retrieval,
  ...store,
] as const;

export type RequirementId = (typeof all)[number]['id'];

/** All promises in one list. */
export const requirements: readonly Requirement[] = all;
