import { z } from 'zod';
import type { Deps } from '../../deps.js';
import { notFound } from '../../errors.js';
import { defineRoute, type Route } from '../../http/define-route.js';
import type { Collections } from '../../stores/collections.js';
import { insertOnce } from '../../stores/mongo.js';

const Entries = z.array(z.unknown()).max(1000).meta({ description: 'Any JSON values.' });
const fields = {
  reference_mapping: Entries,
  user_connectors: Entries,
  connector_group: Entries,
  user_settings_schema: z.strictObject({ template: z.string().max(100_000), form_elements: Entries }),
};
const example = {
  reference_mapping: [{ from: 'company', to: 'crm.account' }],
  user_connectors: [],
  connector_group: [],
  user_settings_schema: { template: 'Sign as {{ signature }}.', form_elements: [{ name: 'signature', type: 'text' }] },
};

/** Settings of a project (specification, Settings). */
export const Settings = z
  .object({ _id: z.string(), projectID: z.string(), ...fields })
  .meta({ id: 'Settings', example: { _id: '0199a6f0-0000-7c11-8d52-3f6f0e6f7a10', projectID: '0199a6f0-0000-7c11-8d52-3f6f0e6f7a10', ...example } });
export type Settings = z.infer<typeof Settings>;
/** `_id` is the project's id. */
export type SettingsDocument = Settings;

export const SettingsPatch = z
  .strictObject({ ...fields, projectID: z.string() })
  .partial()
  .meta({ id: 'SettingsPatch', example: { user_settings_schema: example.user_settings_schema } });
export type SettingsPatch = z.infer<typeof SettingsPatch>;

const tag = 'settings';
const params = z.object({ projectID: z.string() });
const query = z.object({ projectID: z.string().optional() });

/** Settings (specification, Platform API; contract, customer). */
export function settingsRoutes({ mongo: { collections } }: Pick<Deps, 'mongo'>): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/settings/{projectID}',
      permission: 'svc:orchestrate.read',
      tag,
      params,
      query,
      summary: 'Read the settings of a project',
      response: { schema: Settings, description: 'The settings; empty until somebody sets them.' },
      handler: ({ ctx }) => readSettings(collections, ctx.principal.projectId),
    }),
    defineRoute({
      method: 'patch',
      path: '/settings/{projectID}',
      permission: 'svc:orchestrate.write',
      tag,
      params,
      query,
      summary: 'Change the given fields of the settings',
      body: SettingsPatch,
      response: { schema: Settings, description: 'The settings as changed. A field that is given replaces what it was.' },
      handler: ({ ctx, body: { projectID: _agrees, ...patch } }) => updateSettings(collections, ctx.principal.projectId, patch),
    }),
  ];
}

async function readSettings({ settings }: Collections, projectId: string): Promise<Settings> {
  return (await settings.findOne({ _id: projectId })) ?? insertOnce(settings, newSettings(projectId));
}

async function updateSettings(collections: Collections, projectId: string, patch: SettingsPatch): Promise<Settings> {
  const present = await readSettings(collections, projectId);
  if (Object.keys(patch).length === 0) return present;
  const changed = await collections.settings.findOneAndUpdate({ _id: projectId }, { $set: patch }, { returnDocument: 'after' });
  if (!changed) throw notFound('the settings');
  return changed;
}

function newSettings(projectId: string): Settings {
  return {
    _id: projectId,
    projectID: projectId,
    reference_mapping: [],
    user_connectors: [],
    connector_group: [],
    user_settings_schema: { template: '', form_elements: [] },
  };
}
