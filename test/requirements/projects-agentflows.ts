import type { Requirement } from './requirement.js';

/** Platform routes of projects, agentflows, skills and actions. */
export const projectsAgentflows = [
  {
    id: 'platform.projects.list',
    source: 'docs/specification.md#projects-and-members',
    says: 'GET /v1/project lists only the projects that the key can access.',
  },
  {
    id: 'platform.projects.list.filters',
    source: 'docs/specification.md#projects-and-members',
    says: 'The project list can be filtered by status, userId and organization_id.',
  },
  {
    id: 'platform.projects.all-of-user',
    source: 'docs/specification.md#projects-and-members',
    says: 'GET /v1/project/all lists the projects of the user in userId within the organization of the key.',
  },
  {
    id: 'platform.projects.get',
    source: 'docs/specification.md#projects-and-members',
    says: 'GET /v1/project/{project_id} returns that project.',
  },
  {
    id: 'platform.projects.get-by-name',
    source: 'docs/specification.md#projects-and-members',
    says: 'GET /v1/project/name/{project_name} returns the project with that name, or 404 if there is none.',
  },
  {
    id: 'platform.projects.create',
    source: 'docs/specification.md#projects-and-members',
    says: 'POST /v1/project creates a project from a name, optional description and optional organization_id.',
  },
  {
    id: 'platform.projects.update',
    source: 'docs/specification.md#projects-and-members',
    says: 'PATCH /v1/project/{project_id} changes the given fields and keeps the others.',
  },
  {
    id: 'platform.projects.delete',
    source: 'docs/specification.md#projects-and-members',
    says: 'DELETE /v1/project/{project_id} removes the project from reads and lists.',
  },
  {
    id: 'platform.projects.delete.ends-work',
    source: 'docs/specification.md#projects-and-members',
    says: 'Deleting a project removes its agentflows, schedules, connectors and repositories and cancels its runs, whichever process dies meanwhile.',
  },

  {
    id: 'platform.agentflows.create',
    source: 'docs/specification.md#agentflows-and-skills',
    says: 'POST /agentflow stores an agentflow with its embedded agents, skills and actions and returns it completely.',
  },
  {
    id: 'platform.agentflows.list',
    source: 'docs/specification.md#agentflows-and-skills',
    says: 'GET /agentflow lists the agentflows of the project.',
  },
  {
    id: 'platform.agentflows.get',
    source: 'docs/specification.md#agentflows-and-skills',
    says: 'GET /agentflow/{id} returns the stored agentflow, field by field.',
  },
  {
    id: 'platform.agentflows.get-for-user',
    source: 'docs/specification.md#projects-and-members',
    says: 'GET /agentflow/{agentflow_id}/user/{executed_by}/project/{projectID} returns that agentflow of that project.',
  },
  {
    id: 'platform.agentflows.update',
    source: 'docs/specification.md#agentflows-and-skills',
    says: 'PATCH /agentflow/{id} changes the given fields, and earlier executions keep their embedded copy.',
  },
  {
    id: 'platform.agentflows.update-expected',
    source: 'docs/guides/agentflows.md',
    says: 'A change of an agentflow with `expected` is refused with 409 if somebody else has changed the agentflow since, and a repeated change is not.',
  },
  {
    id: 'platform.agentflows.delete',
    source: 'docs/specification.md#agentflows-and-skills',
    says: 'DELETE /agentflow/{id} marks it deleted and removes it from lists and new executions.',
  },
  {
    id: 'platform.agentflows.agent-add',
    source: 'docs/specification.md#agentflows-and-skills',
    says: 'POST /agentflow/{id}/agent adds a skilled agent, up to the agents that the plan allows.',
  },
  {
    id: 'platform.agentflows.agent-update',
    source: 'docs/specification.md#agentflows-and-skills',
    says: 'POST /agentflow/{id}/agent/{agent_id} changes only that agent.',
  },
  {
    id: 'platform.agentflows.promote',
    source: 'docs/specification.md#agentflows-and-skills',
    says: 'POST /agentflow/{id}/promote freezes the current content as the version that run-agent executes.',
  },
  {
    id: 'platform.agentflows.bad.agents',
    source: 'docs/guides/agentflows.md',
    says: 'An agentflow whose initialAgent or next_agent names an unknown agent or forms a cycle is refused with validation_failed and not stored.',
  },
  {
    id: 'platform.agentflows.bad.actions',
    source: 'docs/guides/agentflows.md',
    says: 'A skill whose initial_action_id or next_action_id names an unknown action or forms a cycle is refused with validation_failed.',
  },

  {
    id: 'resource.agentflow',
    source: 'docs/specification.md#agentflows-and-skills',
    says: 'An agentflow has every field of its table, with times in epoch seconds.',
  },
  {
    id: 'resource.agent',
    source: 'docs/specification.md#agentflows-and-skills',
    says: 'An agent has every field listed for it, including model settings and prompt parts.',
  },
  {
    id: 'resource.skill',
    source: 'docs/specification.md#agentflows-and-skills',
    says: 'A skill has every field listed for it, including its actions.',
  },
  {
    id: 'resource.action',
    source: 'docs/specification.md#agentflows-and-skills',
    says: 'An action has every field listed for it, including its two schemas with all parts of a schema field.',
  },

  {
    id: 'platform.skills.create',
    source: 'docs/specification.md#agentflows-and-skills',
    says: 'POST /skill stores a skill of the project.',
  },
  {
    id: 'platform.skills.list',
    source: 'docs/specification.md#agentflows-and-skills',
    says: 'GET /skill lists the skills of the project.',
  },
  {
    id: 'platform.skills.get',
    source: 'docs/specification.md#agentflows-and-skills',
    says: 'GET /skill/{id} returns that skill with its actions.',
  },
  {
    id: 'platform.skills.delete',
    source: 'docs/specification.md#agentflows-and-skills',
    says: 'DELETE /skill/{id} marks the skill deleted and removes it from the list.',
  },
  {
    id: 'platform.actions.create',
    source: 'docs/specification.md#agentflows-and-skills',
    says: 'POST /action stores an action with its input and output schema.',
  },
  {
    id: 'platform.actions.list',
    source: 'docs/specification.md#agentflows-and-skills',
    says: 'GET /action lists the actions of the project.',
  },
  {
    id: 'platform.actions.get',
    source: 'docs/specification.md#agentflows-and-skills',
    says: 'GET /action/{id} returns that action.',
  },
  {
    id: 'agentflows.editing',
    source: 'docs/guides/agentflows.md',
    says: 'A person who has the editor of an agentflow open is named to the others who may change it, until they close it or are silent for a minute.',
  },
  {
    id: 'agentflows.sent-back',
    source: 'docs/guides/agentflows.md',
    says: 'The answer of GET /agentflow/{id} can be sent back: fields that only the service sets have no effect, and all other unknown fields are refused.',
  },
  {
    id: 'agentflow.concurrency',
    source: 'docs/guides/agentflows.md',
    says: 'An agentflow has an optional concurrency with limit, key and limit_per_key, which versions and copies from the marketplace keep.',
  },
] as const satisfies readonly Requirement[];
