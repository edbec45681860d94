/** Request bodies of agentflows for tests. */
export function actionTo(url: string, id = 'call', next: string | null = null) {
  return {
    _id: id,
    name: `Call ${id}`,
    category: 'restful',
    method: 'POST',
    endpoint: url,
    next_action_id: next,
    is_terminal: next === null,
  };
}

/** One agent whose skill calls each address in order. */
export function agentThatCalls(urls: string[], id = 'agent_1', next: string | null = null) {
  const actions = urls.map((url, at) =>
    actionTo(url, `action_${at + 1}`, at + 1 < urls.length ? `action_${at + 2}` : null),
  );
  return {
    _id: id,
    title: `Agent ${id}`,
    role: 'tester',
    role_description: 'Calls what it is told to call.',
    next_agent: next,
    prompt: { template: 'Tell what happened with {{ goal }}.' },
    skills: actions.length === 0 ? [] : [{ _id: 'skill_1', name: 'Calls', initial_action_id: 'action_1', actions }],
  };
}

/** A chain of agents; agent n calls the addresses of entry n. */
export function flowThatCalls(...agents: string[][]) {
  return {
    name: 'Test flow',
    agents: agents.map((urls, at) =>
      agentThatCalls(urls, `agent_${at + 1}`, at + 1 < agents.length ? `agent_${at + 2}` : null),
    ),
  };
}
