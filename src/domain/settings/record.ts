import { defineCollection } from '../../stores/collections.js';
import { z } from 'zod';
import { LanguageSetting } from '../../graph/language/analyzers.js';
import { pickShown } from '../../base/pick.js';

const Entries = z.array(z.unknown()).max(1000).describe('Any JSON values.');
const language = LanguageSetting.describe(
  'The language of the texts in the context graph, for full text. `auto`: that of the first texts that are saved.',
);
/** After how many days executions that ended are deleted. */
const Days = z.int().min(1).max(3650).nullable().default(null);
const noRetention = { completed_days: null, failed_days: null, cancelled_days: null };
const ExecutionRetention = z
  .strictObject({ completed_days: Days, failed_days: Days, cancelled_days: Days })
  .meta({ id: 'ExecutionRetention', example: { completed_days: 90, failed_days: null, cancelled_days: 30 } })
  .describe('How many days after their end executions are deleted, by state. Null keeps them.');

const fields = {
  reference_mapping: Entries,
  user_connectors: Entries,
  connector_group: Entries,
  user_settings_schema: z.strictObject({ template: z.string().max(100_000), form_elements: Entries }),
  data_events: z
    .boolean()
    .describe('Whether changes to table rows, file contents and read marks are recorded like other writes.'),
  execution_retention: ExecutionRetention,
  require_release: z
    .boolean()
    .nullable()
    .describe('Whether only releases of agentflows run, and no drafts. If null, they do in governed mode.'),
};
const example = {
  reference_mapping: [{ from: 'company', to: 'crm.account' }],
  user_connectors: [],
  connector_group: [],
  user_settings_schema: { template: 'Sign as {{ signature }}.', form_elements: [{ name: 'signature', type: 'text' }] },
  data_events: false,
  execution_retention: noRetention,
  require_release: null,
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

/** `_id` is the project id. The graph stores the language. */
export interface SettingsDocument extends Omit<Settings, 'execution_retention' | 'require_release' | 'language'> {
  /** Absent until it is set for the first time. */
  execution_retention?: Settings['execution_retention'];
  /** Absent until it is set for the first time. */
  require_release?: boolean | null;
  /** When executions are deleted next, in epoch seconds. Absent without a retention. */
  retention_due_at?: number;
  attempts?: number;
}

export const SettingsPatch = z
  .strictObject({ ...fields, language, projectID: z.string() })
  .partial()
  .meta({ id: 'SettingsPatch', example: { user_settings_schema: example.user_settings_schema } });
export type SettingsPatch = z.infer<typeof SettingsPatch>;

export function toSettings(document: SettingsDocument, language: LanguageSetting): Settings {
  const { execution_retention = noRetention, require_release = null } = document;
  return { ...pickShown(Settings, document), execution_retention, require_release, language };
}

export const settingsCollection = defineCollection('settings', {
  indexes: [{ keys: { retention_due_at: 1 }, options: { sparse: true } }],
});

declare module '../../stores/collections.js' {
  interface Documents {
    settings: SettingsDocument;
  }
}
