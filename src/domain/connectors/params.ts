import { z } from 'zod';

/** The `config` fields for the account provider's API. */
export const requiredParams = [
  {
    name: 'account_api_url',
    type: 'url',
    required: true,
    secret: false,
    description: "Base URL of the account provider's API, including the version",
  },
  {
    name: 'account_api_token',
    type: 'string',
    required: false,
    secret: true,
    description: 'Bearer token, sent to this API only',
  },
];

export const ProviderParams = z
  .object({
    category: z.literal('professional_network'),
    connector_id: z.string().nullable().describe('The connector that `is_set` refers to; null if there is none.'),
    params: z.array(
      z.object({
        name: z.string(),
        type: z.string(),
        required: z.boolean(),
        secret: z.boolean(),
        description: z.string(),
        is_set: z.boolean(),
      }),
    ),
    operations: z.array(
      z.object({
        name: z.string().describe("The value for an action's `endpoint`."),
        method: z.string(),
        path: z.string(),
        fields: z.array(z.object({ field_id: z.string(), type: z.string(), required: z.boolean() })),
      }),
    ),
  })
  .meta({
    id: 'ProviderParams',
    example: {
      category: 'professional_network',
      connector_id: null,
      params: requiredParams.map((param) => ({ ...param, is_set: false })),
      operations: [
        {
          name: 'get_profile',
          method: 'GET',
          path: '/users/{identifier}',
          fields: [{ field_id: 'identifier', type: 'string', required: true }],
        },
      ],
    },
  });
