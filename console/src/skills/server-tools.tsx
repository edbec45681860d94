import { useQuery } from '@tanstack/react-query';
import { call } from '../api.js';
import { text, type Fields } from '../agentflows/document.js';
import { ToolEffects } from '../connectors/tool-effects.js';
import { CheckField, SelectField } from '../field.js';
import { Loaded, Problem } from '../parts.js';
import { actionsOf, categoryOf, newAction, withoutAction } from './skill.js';
import textStyles from '../styles/text.module.css';
import listStyles from '../styles/lists.module.css';

interface ToolsOptions {
  connectorId: string;
  skill: Fields;
  onChange: (skill: Fields) => void;
}

const useTools = (connectorId: string) =>
  useQuery({
    queryKey: ['mcp-tools', connectorId],
    queryFn: () =>
      call('get', '/connectors/{projectID}/{connector_id}/tools', { params: { connector_id: connectorId } }),
    retry: false,
    staleTime: Infinity,
  });

/** Chooses which accepted tools of an MCP server the agent may call. */
export function ServerTools({ connectorId, skill, onChange }: ToolsOptions) {
  const query = useTools(connectorId);
  const actionOf = (name: string) =>
    actionsOf(skill).find((action) => categoryOf(action) === 'mcp' && text(action.endpoint) === name);
  const toggle = (name: string, description: string) => {
    const action = actionOf(name);
    if (action) return onChange(withoutAction(skill, action));
    const added = {
      ...newAction(skill, 'mcp'),
      name,
      description: description.slice(0, 1000),
      method: 'POST',
      endpoint: name,
    };
    onChange({ ...skill, actions: [...actionsOf(skill), added] });
  };
  return (
    <div role="group" aria-label="Tools of the server">
      <p>
        <strong>Tools of the server</strong>
      </p>
      <Loaded query={query}>
        {({ tools }) => {
          const accepted = tools.filter(({ state }) => state === 'accepted');
          return (
            <>
              {accepted.length < tools.length && (
                <p className={textStyles.soft}>
                  {tools.length - accepted.length} more can be accepted on the page of the connector.
                </p>
              )}
              <ul className={listStyles.rows}>
                {accepted.map((tool) => (
                  <li key={tool.name}>
                    <CheckField
                      label={<bdi>{tool.name}</bdi>}
                      isChecked={actionOf(tool.name) !== undefined}
                      onChange={() => toggle(tool.name, text(tool.pinned?.description))}
                    />
                    <ToolEffects tool={tool} />
                  </li>
                ))}
              </ul>
            </>
          );
        }}
      </Loaded>
    </div>
  );
}

interface ToolOptions {
  connectorId: string;
  action: Fields;
  problem: string | undefined;
  onChange: (action: Fields) => void;
}

/** Chooses the accepted tool that a step calls. */
export function ToolField({ connectorId, action, problem, onChange }: ToolOptions) {
  const { data, error } = useTools(connectorId);
  const tools = data?.tools.filter(({ state }) => state === 'accepted') ?? [];
  const name = text(action.endpoint);
  return (
    <>
      <Problem error={error} />
      <SelectField
        label="Tool"
        hint="The tools that are accepted on the page of the connector."
        problem={problem}
        value={name}
        options={[
          ...(name === '' ? [{ value: '', name: 'Select a tool' }] : []),
          ...tools.map((tool) => ({ value: tool.name })),
        ]}
        onChange={(endpoint) => onChange({ ...action, endpoint, method: 'POST' })}
      />
    </>
  );
}
