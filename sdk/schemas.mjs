// Reads the OpenAPI document for the generators of both clients.

/** The name of the component to which a schema refers. */
export const nameOf = ({ $ref } = {}) => $ref?.replace('#/components/schemas/', '');

/** @returns each operation with its name, such as `get /tag` */
export const operationsIn = ({ paths }) =>
  Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ name: `${method} ${path}`, path, method, operation })),
  );

/**
 * Removes what a call does not return: refusals and held calls, which the clients throw as errors, and examples, which
 * only the API reference needs.
 */
export function keepAnswers(document) {
  const { schemas } = document.components;
  delete document.components.examples;
  for (const { operation } of operationsIn(document)) {
    const { requestBody, responses } = operation;
    for (const [status, { content = {} }] of Object.entries(responses)) {
      const json = content['application/json'];
      const members = membersOf(json?.schema, schemas).filter((member) => nameOf(member) !== 'PendingApproval');
      if (!/^2/.test(status) || (json && members.length === 0)) delete responses[status];
      else if (json && members.length === 1) json.schema = members[0];
      for (const media of Object.values(content)) delete media.example;
    }
    for (const media of Object.values(requestBody?.content ?? {})) delete media.example;
  }
}

/** The members of a union that is the schema of an answer; otherwise the schema alone. */
function membersOf(schema, schemas) {
  const isAnswer = /Answer\d*$/.test(nameOf(schema) ?? '');
  const union = isAnswer ? schemas[nameOf(schema)].anyOf : undefined;
  return union ?? (schema ? [schema] : []);
}

/** @returns the schema of what a call returns. A tool returns its result, or a dry run, which has a method of its own. */
export function answerOf({ responses }, { components: { schemas } }) {
  const found = Object.values(responses).flatMap(({ content }) =>
    membersOf(content?.['application/json']?.schema, schemas),
  );
  const results = found.filter((schema) => nameOf(schema) !== 'DryRun');
  const names = new Set(results.map((schema) => nameOf(schema)));
  if (names.size > 1) return Object.values(responses)[0].content['application/json'].schema;
  return results[0];
}
