interface WithId {
  _id: string;
}

/** The id of the call of an action, as the step of a run has it if the skill prescribes the action. */
export function callId(agent: WithId, skill: WithId, action: WithId): string {
  return `${agent._id}/${skill._id}/${action._id}`;
}
