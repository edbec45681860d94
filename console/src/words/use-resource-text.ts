import { capitalized } from '../api.js';
import { useNames, useProjectNames } from '../use-names.js';

/** Returns a function that names a resource of the audit chain, such as `project:<id>`, without its id. */
export function useResourceText(): (resource: string) => string {
  const personOf = useNames();
  const projectOf = useProjectNames();
  return (resource) => {
    const [kind = '', id = ''] = resource.split(/:(.*)/s);
    if (kind === 'project') return `Project ${projectOf(id)}`;
    return kind === 'user' ? personOf(id) : capitalized(kind.replaceAll(/[_-]/g, ' '));
  };
}
