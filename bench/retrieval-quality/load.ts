import type { ApiClient } from '../../test/support/client.js';
import type { DataSet, Element } from './format.js';

const perCall = 500;

/** Saves the elements through the API as entities of type Turn. Each is related to the next one of its session. */
export async function loadProject(api: ApiClient, elements: readonly Element[]): Promise<void> {
  for (let from = 0; from < elements.length; from += perCall) {
    const part = elements.slice(from, from + perCall);
    const relationships = part.flatMap((element, at) => {
      const before = elements[from + at - 1];
      return before?.session !== undefined && before.session === element.session
        ? [{ from: before.id, type: 'NEXT', to: element.id, properties: {} }]
        : [];
    });
    const { status, body } = await api.post('/v1/save-context', { entities: part.map(entityOf), relationships });
    if (status !== 200) throw new Error(`save-context answered ${status}: ${JSON.stringify(body)}`);
  }
}

function entityOf({ id, name = id, text, speaker, time }: Element) {
  return { id, type: 'Turn', name, properties: { text, ...(speaker && { speaker }), ...(time && { time }) } };
}

export function projectsOf({ elements }: DataSet): Map<string, Element[]> {
  const projects = new Map<string, Element[]>();
  for (const element of elements) projects.set(element.project, [...(projects.get(element.project) ?? []), element]);
  return projects;
}
