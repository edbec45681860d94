import type { Requirement } from './requirement.js';

/** Platform routes of projects, agentflows, skills and actions. */
export const projectsAgentflows = [
  {
    id: 'platform.projects.list',
    source: 'spec: Platform API, GET /v1/project',
    part: 1,
    says: 'GET /v1/project lists only the projects that the key can access.',
  },
  {
    id: 'platform.projects.list.filters',
    source: 'contract: projects',
    part: 1,
    says: 'The project list can be filtered by status, userId and organization_id.',
  },
  {
    id: 'platform.projects.all-of-user',
    source: 'spec: Platform API, GET /v1/project/all',
    part: 1,
    says: 'GET /v1/project/all lists the projects of the user in userId within the organization of the key.',
  },
  {
    id: 'platform.projects.get',
    source: 'spec: Platform API, GET /v1/project/{project_id}',
    part: 1,
    says: 'GET /v1/project/{project_id} returns that project.',
  },
  {
    id: 'platform.projects.get-by-name',
    source: 'contract: projects',
    part: 1,
    says: 'GET /v1/project/name/{project_name} returns the project with that name, or 404 if there is none.',
  },
  {
    id: 'platform.projects.create',
    source: 'contract: projects',
    part: 1,
    says: 'POST /v1/project creates a project from a name, optional description and optional organization_id.',
  },
  {
    id: 'platform.projects.update',
    source: 'contract: projects',
    part: 1,
    says: 'PATCH /v1/project/{project_id} changes the given fields and keeps the others.',
  },
  {
    id: 'platform.projects.delete',
    source: 'contract: projects',
    part: 1,
    says: 'DELETE /v1/project/{project_id} removes the project from reads and lists.',
  },
  {
    id: 'platform.projects.delete.ends-work',
    source: 'contract: projects',
    part: 1,
    says: 'Deleting a project removes its agentflows, schedules, connectors and repositories and cancels its runs, whichever process dies meanwhile.',
  },

  {
    id: 'platform.agentflows.create',
    source: 'contract: agentflows; issue 3: Execution',
    part: 1,
    says: 'POST /agentflow stores an agentflow with its embedded agents, skills and actions and returns it completely.',
  },
  {
    id: 'platform.agentflows.list',
    source: 'contract: agentflows',
    part: 1,
    says: 'GET /agentflow lists the agentflows of the project.',
  },
  {
    id: 'platform.agentflows.get',
    source: 'contract: agentflows',
    part: 1,
    says: 'GET /agentflow/{id} returns the stored agentflow, field by field.',
  },
  {
    id: 'platform.agentflows.get-for-user',
    source: 'spec: Platform API, GET /agentflow/…/user/…/project/…',
    part: 1,
    says: 'GET /agentflow/{agentflow_id}/user/{executed_by}/project/{projectID} returns that agentflow of that project.',
  },
  {
    id: 'platform.agentflows.update',
    source: 'contract: agentflows',
    part: 5,
    says: 'PATCH /agentflow/{id} changes the given fields, and earlier executions keep their embedded copy.',
  },
  {
    id: 'platform.agentflows.delete',
    source: 'contract: agentflows',
    part: 5,
    says: 'DELETE /agentflow/{id} marks it deleted and removes it from lists and new executions.',
  },
  {
    id: 'platform.agentflows.agent-add',
    source: 'contract: agentflows',
    part: 5,
    says: 'POST /agentflow/{id}/agent adds a skilled agent, up to the agents that the plan allows.',
  },
  {
    id: 'platform.agentflows.agent-update',
    source: 'contract: agentflows',
    part: 5,
    says: 'POST /agentflow/{id}/agent/{agent_id} changes only that agent.',
  },
  {
    id: 'platform.agentflows.promote',
    source: 'contract: agentflows',
    part: 2,
    says: 'POST /agentflow/{id}/promote freezes the current content as the version that run-agent executes.',
  },
  {
    id: 'platform.agentflows.bad.agents',
    source: 'issue 3: Bad input',
    part: 1,
    says: 'An agentflow whose initialAgent or next_agent names an unknown agent or forms a cycle is refused with validation_failed and not stored.',
  },
  {
    id: 'platform.agentflows.bad.actions',
    source: 'issue 3: Bad input',
    part: 1,
    says: 'A skill whose initial_action_id or next_action_id names an unknown action or forms a cycle is refused with validation_failed.',
  },

  {
    id: 'resource.agentflow',
    source: 'spec: Agentflow',
    part: 1,
    says: 'An agentflow has every field of its table, with times in epoch seconds.',
  },
  {
    id: 'resource.agent',
    source: 'spec: Agentflow, Agent',
    part: 1,
    says: 'An agent has every field listed for it, including model settings and prompt parts.',
  },
  {
    id: 'resource.skill',
    source: 'spec: Agentflow, Skill',
    part: 1,
    says: 'A skill has every field listed for it, including its actions.',
  },
  {
    id: 'resource.action',
    source: 'spec: Agentflow, Action',
    part: 1,
    says: 'An action has every field listed for it, including its two schemas with all parts of a schema field.',
  },

  {
    id: 'platform.skills.create',
    source: 'contract: skills, actions',
    part: 5,
    says: 'POST /skill stores a skill of the project.',
  },
  {
    id: 'platform.skills.list',
    source: 'contract: skills, actions',
    part: 5,
    says: 'GET /skill lists the skills of the project.',
  },
  {
    id: 'platform.skills.get',
    source: 'contract: skills, actions',
    part: 5,
    says: 'GET /skill/{id} returns that skill with its actions.',
  },
  {
    id: 'platform.skills.delete',
    source: 'contract: skills, actions',
    part: 5,
    says: 'DELETE /skill/{id} marks the skill deleted and removes it from the list.',
  },
  {
    id: 'platform.actions.create',
    source: 'contract: skills, actions',
    part: 5,
    says: 'POST /action stores an action with its input and output schema.',
  },
  {
    id: 'platform.actions.list',
    source: 'contract: skills, actions',
    part: 5,
    says: 'GET /action lists the actions of the project.',
  },
  {
    id: 'platform.actions.get',
    source: 'contract: skills, actions',
    part: 5,
    says: 'GET /action/{id} returns that action.',
  },
] as const satisfies readonly Requirement[];
