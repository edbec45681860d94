import type { Schemas } from '../../../node/src/index.js';
import { paginate } from '../../../node/src/page.js';
import { oneByOne, plainOf, type Kind, type Remote } from '../kind.js';
import { changedFields, complete, isObject, none, type Json, type Shape } from '../shape.js';

const shape: Shape = {
  fields: {
    coworker_id: none,
    goal: none,
    type: none,
    frequency: null,
    schedule: none,
    ends_at: null,
    limit: null,
    table: null,
    channel: 'production',
    overlap: 'skip',
    catchup_window: 3600,
    jitter: 0,
    pause_on_failure: false,
    status: 'active',
  },
  ignored: [
    '_id',
    'projectID',
    'created_by',
    'created_at',
    'updated_at',
    'count',
    'conclusion',
    'last_coworker_execution_id',
    'last_record_id',
    'task_id',
    'reason',
    'next_times',
    'latest_run',
    'temporal_ui_url',
  ],
};

/** Completed schedules are history, so they have no files. */
export const schedules: Kind = {
  folder: 'schedules',
  noun: 'schedule',
  schema: 'ScheduleInput',
  shape,
  required: ['coworker_id', 'type'],
  references: [
    { path: ['coworker_id'], to: ['agentflows'] },
    { path: ['table'], to: ['tables'] },
  ],
  tidy: (content) => (content.goal === undefined ? content : { ...content, goal: shortGoal(content.goal) }),
  nameOf: ({ coworker_id, type }, refs) =>
    `${(refs.get(String(coworker_id)) ?? String(coworker_id)).replace(/^agentflows\//, '')} ${String(type)}`,
  async list({ platform }) {
    const found: Remote[] = [];
    for await (const each of paginate(platform.schedules.list, { limit: 200 }))
      if (each.status !== 'completed') found.unshift(remoteOf(each));
    return found;
  },
  change: oneByOne({
    create: async ({ platform }, { content }) =>
      remoteOf(await platform.schedules.create(complete(shape, content) as unknown as Schemas['ScheduleInput'])),
    async update({ platform }, { content }, { id, content: present, expected }) {
      const changes = { ...changedFields(shape, content, present), expected } as Schemas['SchedulePatch'];
      return remoteOf(await platform.schedules.update(id, changes));
    },
    remove: ({ platform }, { id }) => platform.schedules.delete(id),
  }),
};

function remoteOf(stored: unknown): Remote {
  const answer = stored as Json;
  return { id: String(answer._id), content: plainOf(schedules, answer), answer, expected: answer.updated_at };
}

/** A goal that is shown as it is written is a text. */
function shortGoal(goal: unknown): unknown {
  if (!isObject(goal)) return goal;
  const { template, display_template = '' } = goal;
  return display_template === JSON.stringify([{ text: template }]) ? template : { template, display_template };
}
