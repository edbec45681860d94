import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call, type McpTool } from '../api.js';
import { Confirm } from '../confirm.js';
import { ActionButton, Badge, Data, Problem, Section } from '../parts.js';
import { Time } from '../time.js';
import { quantity } from '../quantity.js';
import { useMay } from '../session.js';
import { ToolEffects } from './tool-effects.js';
import textStyles from '../styles/text.module.css';
import listStyles from '../styles/lists.module.css';
import controlStyles from '../styles/controls.module.css';
import styles from './difference.module.css';

/** What the person accepts. The hash names the definitions that they saw when they opened the dialog. */
interface Asked {
  tools: 'all' | string[];
  hash: string;
}

/** Compares the tools that the server offers now with the accepted ones. Reading them also tests the connection. */
export function McpTools({ connectorId }: { connectorId: string }) {
  const params = { connector_id: connectorId };
  const key = ['mcp-tools', connectorId];
  const queries = useQueryClient();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [toolsToAccept, setToolsToAccept] = useState<Asked>();
  const may = useMay();
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: key,
    queryFn: () => call('get', '/connectors/{projectID}/{connector_id}/tools', { params }),
    retry: false,
    staleTime: Infinity,
  });
  const mayAccept = may('post /connectors/{projectID}/{connector_id}/tools/accept');
  const ask = (tools: Asked['tools']) => setToolsToAccept({ tools, hash: data?.hash ?? '' });
  const accept = async (body: Asked) => {
    queries.setQueryData(
      key,
      await call('post', '/connectors/{projectID}/{connector_id}/tools/accept', { params, body }),
    );
    setSelected(new Set());
  };
  const open = data?.tools.filter(needsDecision) ?? [];
  return (
    <Section title="Server tools">
      <div className={controlStyles.stickyToolbar}>
        <ActionButton
          name={isFetching ? 'Refreshing…' : 'Refresh tools'}
          isDisabled={isFetching}
          onClick={() => void refetch()}
        />
        {mayAccept && data && (
          <>
            <ActionButton
              name={selected.size > 0 ? `Accept ${selected.size} selected…` : 'Accept selected…'}
              isDisabled={selected.size === 0}
              onClick={() => ask([...selected])}
            />
            <ActionButton name="Accept all…" isDisabled={data.tools.length === 0} onClick={() => ask('all')} />
          </>
        )}
        <p role="status">{data && `${quantity(data.tools.length, 'tool')}, ${open.length} to review`}</p>
      </div>
      <Problem error={error} />
      {data?.tools.length === 0 && <p className={textStyles.soft}>The server offers no tools.</p>}
      <ul className={listStyles.rows}>
        {data?.tools.map((tool) => (
          <Tool
            key={tool.name}
            tool={tool}
            isSelected={selected.has(tool.name)}
            onSelect={mayAccept && tool.live ? () => setSelected(toggled(selected, tool.name)) : undefined}
          />
        ))}
      </ul>
      {toolsToAccept && (
        <AcceptTools
          connectorId={connectorId}
          tools={toolsToAccept.tools}
          act={() => accept(toolsToAccept)}
          onClose={() => setToolsToAccept(undefined)}
        />
      )}
    </Section>
  );
}

interface AcceptOptions {
  connectorId: string;
  tools: Asked['tools'];
  act: () => Promise<void>;
  onClose: () => void;
}

function AcceptTools({ connectorId, tools, act, onClose }: AcceptOptions) {
  return (
    <Confirm
      title={tools === 'all' ? 'Accept all tools?' : `Accept ${quantity(tools.length, 'tool')}?`}
      action="Accept"
      act={act}
      invalidates={[['connector', connectorId]]}
      onClose={onClose}
    >
      <p>
        Agents can call these tools with their current definitions. If a definition changes, the tool is suspended until
        somebody accepts it again.
        {tools === 'all' && ' Accepted tools that the server no longer offers are removed.'}
      </p>
    </Confirm>
  );
}

const needsDecision = ({ state, live, difference }: McpTool) =>
  state !== 'accepted' || live === null || difference.length > 0;

function toggled(names: ReadonlySet<string>, name: string): ReadonlySet<string> {
  const next = new Set(names);
  if (!next.delete(name)) next.add(name);
  return next;
}

interface ToolOptions {
  tool: McpTool;
  isSelected: boolean;
  /** Undefined if the tool cannot be accepted. */
  onSelect: (() => void) | undefined;
}

function Tool({ tool, isSelected, onSelect }: ToolOptions) {
  const { name, state, live, pinned, difference, problems, suspended, accepted_at } = tool;
  return (
    <li>
      {onSelect && <input type="checkbox" aria-label={`Select ${name}`} checked={isSelected} onChange={onSelect} />}{' '}
      <strong>
        <bdi>{name}</bdi>
      </strong>{' '}
      <Badge state={state} />{' '}
      <span className={textStyles.soft}>
        {accepted_at !== null && (
          <>
            accepted <Time at={accepted_at} />
          </>
        )}
        {suspended && `, suspended: ${suspended.reason}`}
      </span>
      <ToolEffects tool={tool} />
      {problems.length > 0 && <p className={textStyles.bad}>Cannot be accepted: {problems.join('; ')}</p>}
      <p>
        <bdi>{(live ?? pinned)?.description}</bdi>
      </p>
      {difference.length > 0 && (
        <details open>
          <summary>{quantity(difference.length, 'difference')} from the accepted definition</summary>
          <dl className={styles.difference}>
            {difference.map(({ path, pinned: before, live: now }) => (
              <div key={path}>
                <dt>{path}</dt>
                <dd>
                  <del>{textOf(before)}</del> <ins>{textOf(now)}</ins>
                </dd>
              </div>
            ))}
          </dl>
        </details>
      )}
      <details>
        <summary>Definition</summary>
        {live && <Data value={live} label={`${name} as the server offers it`} />}
        {!live && <Data value={pinned} label={`${name} as it was accepted`} />}
      </details>
    </li>
  );
}

function textOf(value: unknown): string {
  if (value === undefined) return '(none)';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
