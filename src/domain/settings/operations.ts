import { notFound } from '../../errors.js';
import { yes } from '../../governance/operations/operation.js';
import type { Collections } from '../../stores/collections.js';
import { createFreshReads } from '../../stores/fresh-reads.js';
import { insertOnce } from '../../stores/mongo.js';
import { defineOperation } from '../operation.js';
import { Settings, SettingsPatch, type SettingsDocument } from './record.js';

export const readSettings = defineOperation({
  name: 'settings.read',
  effect: 'read',
  grant: 'svc:orchestrate.read',
  output: Settings,
  run: ({ deps, ctx }) => settingsOf(deps.mongo.collections, ctx.principal.projectId),
});

export const updateSettings = defineOperation({
  name: 'settings.update',
  effect: 'write',
  grant: 'svc:orchestrate.write',
  facts: { data_events: yes('data_events') },
  input: SettingsPatch,
  output: Settings,
  async run({ deps, ctx, input: { projectID: _checked, ...patch } }) {
    const { collections } = deps.mongo;
    const { projectId } = ctx.principal;
    const present = await settingsOf(collections, projectId);
    if (Object.keys(patch).length === 0) return present;
    const changed = await collections.settings.findOneAndUpdate(
      { _id: projectId },
      { $set: patch },
      { returnDocument: 'after' },
    );
    if (!changed) throw notFound('the settings');
    return toSettings(changed);
  },
});

/** The settings, which the first read creates. */
async function settingsOf({ settings }: Collections, projectId: string): Promise<Settings> {
  return toSettings(
    (await settings.findOne({ _id: projectId })) ?? (await insertOnce(settings, newSettings(projectId))),
  );
}

function newSettings(projectId: string): SettingsDocument {
  return {
    _id: projectId,
    projectID: projectId,
    reference_mapping: [],
    user_connectors: [],
    connector_group: [],
    user_settings_schema: { template: '', form_elements: [] },
    data_events: false,
  };
}

function toSettings(document: SettingsDocument): Settings {
  return { data_events: false, ...document };
}

/** Reads whether a project records data changes. Concurrent calls share a query. */
export function createDataEventsReader({
  settings,
}: Pick<Collections, 'settings'>): (projectId: string) => Promise<boolean> {
  const read = createFreshReads(settings);
  return async (projectId) => (await read(projectId))?.data_events === true;
}
