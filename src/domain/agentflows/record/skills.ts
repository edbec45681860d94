import { z } from 'zod';
import { fieldMarks } from '../../../governance/approvals/summary.js';
import { ConnectorCategory } from '../../connectors/record.js';
import { acceptingSentBack } from '../../sent-back.js';
import { CustomHeader } from '../../connectors/rules/config.js';
import { endpointProblem } from '../../connectors/rules/provider-operations.js';
import { Id, Pointer, Name, Text, maxEntries } from './fields.js';
import { exampleAction, exampleField, exampleSkill, newSkillExample } from './examples.js';

const Line = z.string().max(1000);
const endpointMeta = {
  description:
    "For `restful`: an http(s) URL, or a path relative to the connector's base URL; Liquid templates are allowed after the host. For the other categories: the name of an operation, or a URL of the account provider's API. `mail` ignores it. For `mcp`: the name of an accepted tool. For `agentflow`: the id of an agentflow of the project.",
};
const summaryMeta = {
  description:
    'A Liquid template over the input fields: the one line that people read when they approve the action. Without it, the line is made from the name of the action and its fields.',
};

const BodyType = z
  .enum(['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'])
  .describe(
    'The format of the body of an HTTP call. Default: application/json. In forms, lists repeat their name. In a multipart body, an object with `filename` and `text` or `base64` is a file.',
  );
const ResponseHeaders = z
  .array(CustomHeader.refine((name) => !secretHeaders.has(name.toLowerCase()), 'can hold credentials'))
  .max(20)
  .describe(
    'Headers of the answer that the output contains: it is then `{"body": …, "headers": {…}}`, with names in lower case.',
  );
const secretHeaders: ReadonlySet<string> = new Set([
  'set-cookie',
  'set-cookie2',
  'authentication-info',
  'proxy-authenticate',
]);

const Category = z
  .enum([...ConnectorCategory.options, 'agentflow'])
  .describe(
    '`restful` can do without a connector, `agentflow` starts a run of another agentflow and has none, and all others require one.',
  );
export type ActionCategory = z.infer<typeof Category>;
const HttpMethod = z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);
const FieldType = z.enum(['string', 'number', 'integer', 'boolean', 'object', 'array', 'any']);

const Mark = z
  .enum(fieldMarks)
  .describe(
    'What the field means. Summaries of approvals name it, and rules read it as `amount`, `currency` and `recipient_domains`. At most one field of an action is the amount, and one the currency.',
  );

const Place = z
  .enum(['path', 'query', 'header', 'body'])
  .describe(
    'Where an HTTP call sends the field, as `in` of OpenAPI. Lists in `query` repeat the name. By default a field that the endpoint writes goes only there; others go into the query of GET and DELETE (lists as JSON), and into the body of other methods.',
  );
const OwnValue = z
  .unknown()
  .describe(
    'A constant, whose texts are Liquid templates with the variables of endpoints. The model is not asked for such a field, and inputs of a run do not change it; an approver can. A field of another type than `string` and `any` has the JSON value of its rendered text.',
  );

export const SchemaField = z
  .object({
    field_id: z.string(),
    label: z.string(),
    type: FieldType,
    required: z.boolean(),
    description: z.string(),
    mark: Mark.optional(),
    in: Place.optional(),
    value: OwnValue.optional(),
  })
  .meta({ id: 'SchemaField', example: exampleField });
export type SchemaField = z.infer<typeof SchemaField>;

export const NewSchemaField = z
  .strictObject({
    field_id: z.string().min(1).max(200),
    label: Line.default(''),
    type: FieldType.default('string'),
    required: z.boolean().default(false),
    description: Text.default(''),
    mark: Mark.optional(),
    in: Place.optional(),
    value: OwnValue.optional(),
  })
  .meta({ id: 'SchemaFieldInput', example: exampleField });
export type NewSchemaField = z.infer<typeof NewSchemaField>;

/** Maximum length of each list of agents, skills, actions and fields. A longer list is refused before its entries are checked. */
const FieldList = z.object({ fields: z.array(SchemaField) });
const NewFieldList = z
  .strictObject({ fields: z.array(NewSchemaField).max(maxEntries).default([]) })
  .default({ fields: [] });

export const Action = z
  .object({
    _id: z.string(),
    name: z.string(),
    description: z.string(),
    category: Category,
    method: HttpMethod,
    endpoint: z.string().meta(endpointMeta),
    content_type: BodyType.optional(),
    response_headers: ResponseHeaders.optional(),
    summary: z.string().optional().meta(summaryMeta),
    sort: z.number(),
    previous_action_id: z.string().nullable(),
    next_action_id: z.string().nullable(),
    is_terminal: z.boolean(),
    input_schema: FieldList,
    output_schema: FieldList,
  })
  .meta({ id: 'Action', example: exampleAction });
export type Action = z.infer<typeof Action>;

const callFields = {
  name: Name,
  description: Text.default(''),
  category: Category.default('restful'),
  method: HttpMethod.default('POST'),
  endpoint: z.string().trim().max(4000).default('').meta(endpointMeta),
  content_type: BodyType.optional(),
  response_headers: ResponseHeaders.optional(),
  summary: z.string().trim().max(1000).optional().meta(summaryMeta),
  input_schema: NewFieldList,
  output_schema: NewFieldList,
};

const newActionFields = {
  ...callFields,
  sort: z.number().optional().describe('Defaults to the position in `actions`.'),
  previous_action_id: Pointer.nullable().default(null),
  next_action_id: Pointer.nullable().default(null),
  is_terminal: z.boolean().optional().describe('Defaults to true if `next_action_id` is null.'),
};

function checkEndpoint({ category, endpoint }: Pick<Action, 'category' | 'endpoint'>, context: z.RefinementCtx): void {
  const problem = endpointProblem(category, endpoint);
  if (problem !== undefined) context.addIssue({ code: 'custom', path: ['endpoint'], message: problem });
}

/** The action of a step of a flow, which has no followers. */
export const StepAction = z
  .strictObject(callFields)
  .superRefine(checkEndpoint)
  .meta({ id: 'StepAction', example: { name: 'Look up the claim', method: 'GET', endpoint: '/claims/{{ item.id }}' } });

export const NewAction = z
  .strictObject({ _id: Id.optional(), ...newActionFields })
  .superRefine(checkEndpoint)
  .meta({ id: 'ActionInput', example: exampleAction });
export type NewAction = z.infer<typeof NewAction>;

/** An action that is not embedded in a skill. Its id is the record id. */
export const NewStandaloneAction = z
  .strictObject({ ...newActionFields, projectID: z.string().optional() })
  .superRefine(checkEndpoint)
  .meta({
    id: 'StandaloneActionInput',
    example: { name: 'Look up the claim', method: 'GET', endpoint: '/claims/{{ inputs.claim_number }}' },
  });

export const Skill = z
  .object({
    _id: z.string(),
    name: z.string(),
    description: z.string(),
    logo: z.string(),
    projectID: z.string(),
    user_id: z.string(),
    connector_id: z.string().nullable(),
    connector_name: z.string(),
    is_deleted: z.boolean(),
    actions: z.array(Action),
    initial_action_id: z.string().nullable(),
  })
  .meta({ id: 'Skill', example: exampleSkill });
export type Skill = z.infer<typeof Skill>;

export const NewSkill = z
  .strictObject({
    _id: Id.optional(),
    name: Name,
    description: Text.default(''),
    logo: Text.default(''),
    connector_id: Pointer.nullable().default(null),
    connector_name: Line.default(''),
    actions: z.array(NewAction).max(maxEntries).default([]),
    initial_action_id: Pointer.nullish().describe('Defaults to the first of `actions`; null runs none.'),
  })
  .meta({ id: 'SkillInput', example: newSkillExample });
export type NewSkill = z.infer<typeof NewSkill>;

/** A skill in a request with an agent. */
export const EmbeddedSkill = acceptingSentBack(NewSkill, ['projectID', 'user_id', 'is_deleted']);
