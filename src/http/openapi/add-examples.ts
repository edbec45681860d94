import { composeExample, withDefaults, type ExampleOptions, type Json, type JsonSchema } from './compose-example.js';

interface Media {
  schema?: JsonSchema;
  example?: Json | undefined;
  examples?: unknown;
}
interface Operation {
  parameters?: { in: string; name: string; required?: boolean; schema: JsonSchema; example?: Json | undefined }[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, { content?: Record<string, Media> }>;
}

/** Gives every request, answer and needed parameter of the finished document an example. */
export function addExamples<D extends object>(document: D): D {
  const { paths, components } = document as unknown as {
    paths: Record<string, Record<string, Operation>>;
    components: { schemas?: Record<string, JsonSchema> };
  };
  const schemas = components.schemas ?? {};
  for (const operation of Object.values(paths).flatMap((item) => Object.values(item))) addToOperation(operation, schemas);
  for (const schema of Object.values(schemas)) if (schema.example !== undefined) schema.example = withDefaults(schema, schema.example, { schemas });
  return document;
}

function addToOperation({ parameters = [], requestBody, responses }: Operation, schemas: ExampleOptions['schemas']): void {
  for (const parameter of parameters) {
    if (parameter.required) parameter.example = composeExample(parameter.schema, parameter.name, { schemas });
  }
  const leaveOut = new Set(['projectID', ...parameters.map(({ name }) => name)]);
  for (const media of Object.values(requestBody?.content ?? {})) add(media, { schemas, leaveOut });
  for (const { content = {} } of Object.values(responses)) for (const media of Object.values(content)) add(media, { schemas });
}

function add(media: Media, options: ExampleOptions): void {
  if (!media.schema || media.examples !== undefined) return;
  media.example = composeExample(media.schema, '', options);
}
