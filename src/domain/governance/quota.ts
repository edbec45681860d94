import { z } from 'zod';
import { defineOperation } from '../operation.js';

const Window = (whose: string) =>
  z
    .object({
      used: z.int().describe('Calls that were admitted in the window.').meta({ example: 3 }),
      max: z.int().describe('0 means unlimited; the window is then not counted.').meta({ example: 600 }),
    })
    .describe(`The window of ${whose}.`);

/** Every credential can read the used part of its own quota. */
export const readQuota = defineOperation({
  name: 'quota.read',
  effect: 'read',
  grant: 'any',
  output: z
    .object({
      window_seconds: z.int().describe('The length of both windows, which slide.').meta({ example: 60 }),
      project: Window('the project'),
      organization: Window('its organization'),
    })
    .meta({ id: 'Quota' }),
  async run({ deps: { governance, config }, ctx: { principal } }) {
    const { organizationId, projectId } = principal;
    const usage = await governance.quota.usage({ organizationId, projectId });
    return {
      window_seconds: config.quota.windowSeconds,
      project: { used: usage.project_window_used, max: usage.project_window_max },
      organization: { used: usage.org_window_used, max: usage.org_window_max },
    };
  },
});
