import { defineCollection } from '../../stores/collections.js';
import { z } from 'zod';

const Entries = z.array(z.unknown()).max(1000).meta({ description: 'Any JSON values.' });
const fields = {
  reference_mapping: Entries,
  user_connectors: Entries,
  connector_group: Entries,
  user_settings_schema: z.strictObject({ template: z.string().max(100_000), form_elements: Entries }),
  data_events: z
    .boolean()
    .meta({
      description: 'Whether changes to table rows, file contents and read marks are recorded like other writes.',
    }),
};
const example = {
  reference_mapping: [{ from: 'company', to: 'crm.account' }],
  user_connectors: [],
  connector_group: [],
  user_settings_schema: { template: 'Sign as {{ signature }}.', form_elements: [{ name: 'signature', type: 'text' }] },
  data_events: false,
};

/** The settings of a project (specification, Settings). */
export const Settings = z
  .object({ _id: z.string(), projectID: z.string(), ...fields })
  .meta({
    id: 'Settings',
    example: {
      _id: '0199a6f0-0000-7c11-8d52-3f6f0e6f7a10',
      projectID: '0199a6f0-0000-7c11-8d52-3f6f0e6f7a10',
      ...example,
    },
  });
export type Settings = z.infer<typeof Settings>;
/** `_id` is the project id. Settings from earlier releases have no `data_events`. */
export type SettingsDocument = Omit<Settings, 'data_events'> & Partial<Pick<Settings, 'data_events'>>;

export const SettingsPatch = z
  .strictObject({ ...fields, projectID: z.string() })
  .partial()
  .meta({ id: 'SettingsPatch', example: { user_settings_schema: example.user_settings_schema } });
export type SettingsPatch = z.infer<typeof SettingsPatch>;

export const settingsCollection = defineCollection('settings', {});

declare module '../../stores/collections.js' {
  interface Documents {
    settings: SettingsDocument;
  }
}
