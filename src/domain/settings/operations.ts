import { notFound } from '../../base/errors.js';
import { flag, text, whereKnown } from '../../governance/operations/operation.js';
import type { LanguageSetting } from '../../graph/language/analyzers.js';
import { changeLanguage, readLanguage } from '../../graph/language/state.js';
import { lockProject } from '../../graph/ontology/state.js';
import { inWriteTransaction } from '../../graph/store/sessions.js';
import type { Collections } from '../../stores/collections.js';
import { createFreshReads } from '../../stores/fresh-reads.js';
import type { Graph } from '../../stores/neo4j.js';
import { insertOnce } from '../../stores/insert-once.js';
import { epochSeconds } from '../../base/time.js';
import { deleteExecutionRules } from '../caused-rules.js';
import { defineOperation, manages, reads } from '../operation.js';
import { Settings, SettingsPatch, toSettings, type SettingsDocument } from './record.js';
export { settingsCollection } from './record.js';

export const readSettings = defineOperation({
  name: 'settings.read',
  ...reads,
  output: Settings,
  async run({ deps, ctx: { principal } }) {
    const { projectId } = principal;
    const [document, { setting }] = await Promise.all([
      settingsOf(deps.mongo.collections, projectId),
      readLanguage(deps.graph, projectId),
    ]);
    return toSettings(document, setting);
  },
});

export const updateSettings = defineOperation({
  name: 'settings.update',
  ...manages,
  facts: {
    data_events: flag('data_events'),
    language: text('language'),
    require_release: whereKnown('require_release', flag),
  },
  causes: [
    {
      operation: deleteExecutionRules,
      when: 'if `execution_retention` deletes executions',
      calls: ({ execution_retention: retention }) =>
        Object.values(retention ?? {}).some((days) => days !== null) ? [{ input: { execution_id: '' } }] : [],
    },
  ],
  input: SettingsPatch,
  output: Settings,
  async run({ deps, ctx, input: { projectID: _checked, language, ...patch } }) {
    const { settings } = deps.mongo.collections;
    const { projectId: _id } = ctx.principal;
    const present = await settingsOf(deps.mongo.collections, _id);
    const setting = language === undefined ? undefined : await setLanguage(deps.graph, _id, language);
    const changed =
      Object.keys(patch).length === 0
        ? present
        : await settings.findOneAndUpdate(
            { _id },
            { $set: { ...patch, ...dueNow(patch) } },
            { returnDocument: 'after' },
          );
    if (!changed) throw notFound('the settings');
    return toSettings(changed, setting ?? (await readLanguage(deps.graph, _id)).setting);
  },
});

function setLanguage(graph: Graph, projectId: string, language: LanguageSetting): Promise<LanguageSetting> {
  return inWriteTransaction(graph, projectId, async (tx) => {
    await changeLanguage(tx, projectId, (await lockProject(tx, projectId)).language, language);
    return language;
  });
}

/** A change of the retention applies at once. */
function dueNow({ execution_retention }: SettingsPatch): Pick<SettingsDocument, 'retention_due_at'> {
  return execution_retention ? { retention_due_at: epochSeconds() } : {};
}

/** The settings, which the first read creates. */
async function settingsOf({ settings }: Collections, projectId: string): Promise<SettingsDocument> {
  return (await settings.findOne({ _id: projectId })) ?? (await insertOnce(settings, newSettings(projectId)));
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

/** Reads whether a project records data changes. Concurrent calls share a query. */
export function createDataEventsReader({
  settings,
}: Pick<Collections, 'settings'>): (projectId: string) => Promise<boolean> {
  const read = createFreshReads(settings);
  return async (projectId) => (await read(projectId))?.data_events === true;
}
