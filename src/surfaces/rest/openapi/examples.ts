import openapiSampler from 'openapi-sampler';
import { z } from 'zod';
import type { ZodOpenApiOverride } from 'zod-openapi';

interface Media {
  schema?: object;
  example?: unknown;
  examples?: unknown;
}
interface Operation {
  parameters?: { name: string; required?: boolean; schema: object; example?: unknown }[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, { content?: Record<string, Media> }>;
}

/**
 * Completes the examples of schemas. A request example may omit fields with a default value; a response example must
 * include them. Moves the example of a nullable field next to its types, because zod joins the types into one list only
 * if each has no other keyword.
 */
export const completeExample: ZodOpenApiOverride = ({ zodSchema, jsonSchema, io }) => {
  if (zodSchema._zod.def.type === 'nullable' && jsonSchema.anyOf) {
    const [inner, ...rest] = jsonSchema.anyOf;
    const { example, ...bare } = inner as { example?: unknown };
    if (example !== undefined) Object.assign(jsonSchema, { example, ...jsonSchema, anyOf: [bare, ...rest] });
  }
  if (io === 'input' || jsonSchema.example === undefined) return;
  const parsed = z.safeParse<z.core.$ZodType>(zodSchema, jsonSchema.example);
  if (parsed.success) jsonSchema.example = parsed.data;
};

/**
 * Adds an example to every request, response and required parameter of the document: that of its schema, or one
 * composed of the examples of its fields.
 */
export function addExamples<D extends object>(document: D): D {
  const { paths } = document as unknown as { paths: Record<string, Record<string, Operation>> };
  const sample = (schema: object) => openapiSampler.sample(schema, { quiet: true }, document);
  for (const operation of Object.values(paths).flatMap((item) => Object.values(item))) {
    const { parameters = [], requestBody, responses } = operation;
    for (const parameter of parameters) if (parameter.required) parameter.example = sample(parameter.schema);
    for (const { content = {} } of [...(requestBody ? [requestBody] : []), ...Object.values(responses)])
      for (const media of Object.values(content))
        if (media.schema && media.examples === undefined) media.example = sample(media.schema);
    for (const { example } of Object.values(requestBody?.content ?? {}))
      for (const name of ['projectID', ...parameters.map((parameter) => parameter.name)])
        // The field is already in the path or the query.
        if (example !== null && typeof example === 'object') delete (example as Record<string, unknown>)[name];
  }
  return document;
}
