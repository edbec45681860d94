import { defineCollection } from '../../stores/collections.js';
import { z } from 'zod';
import { LanguageSetting } from '../../graph/language/analyzers.js';

const Entries = z.array(z.unknown()).max(1000).describe('Any JSON values.');
const language = LanguageSetting.describe(
  'The language of the texts in the context graph, for full text. `auto`: that of the first texts that are saved.',
);
const fields = {
  reference_mapping: Entries,
  user_connectors: Entries,
  connector_group: Entries,
  user_settings_schema: z.strictObject({ template: z.string().max(100_000), form_elements: Entries }),
  data_events: z
    .boolean()
    .describe('Whether changes to table rows, file contents and read marks are recorded like other writes.'),
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
  .object({ _id: z.string(), projectID: z.string(), ...fields, language })
  .meta({
    id: 'Settings',
    example: {
      _id: '0199a6f0-0000-7c11-8d52-3f6f0e6f7a10',
      projectID: '0199a6f0-0000-7c11-8d52-3f6f0e6f7a10',
      ...example,
      language: 'auto',
    },
  });
export type Settings = z.infer<typeof Settings>;
/** `_id` is the project id. Settings from earlier releases have no `data_events`. The graph stores the language. */
export type SettingsDocument = Omit<Settings, 'data_events' | 'language'> & Partial<Pick<Settings, 'data_events'>>;

export const SettingsPatch = z
  .strictObject({ ...fields, language, projectID: z.string() })
  .partial()
  .meta({ id: 'SettingsPatch', example: { user_settings_schema: example.user_settings_schema } });

export const settingsCollection = defineCollection('settings', {});

declare module '../../stores/collections.js' {
  interface Documents {
    settings: SettingsDocument;
  }
}
