import {
  Background,
  Controls,
  Handle,
  MarkerType,
  Position,
  ReactFlow,
  type Node,
  type NodeProps,
  type NodeTypes,
} from '@xyflow/react';
import { useMemo } from 'react';
import { Badge } from '../parts.js';
import { layOut, type GraphEdge, type GraphNode } from './lay-out.js';
import '@xyflow/react/dist/base.css';
import styles from './graph.module.css';

export interface GraphOptions {
  /** Describes the graph for screen readers. */
  label: string;
  nodes: readonly GraphNode[];
  edges: readonly GraphEdge[];
  /** The state of each node by its id, for example `running`. */
  state?: Readonly<Record<string, string>>;
  /** Whether the edges show an order, in which each node follows all of its predecessors. */
  isFlow?: boolean;
  selected?: string | undefined;
  onSelect?: (id: string) => void;
  /** Lets the person draw edges if set. */
  onConnect?: (edge: GraphEdge) => void;
}

type FlowNode = Node<{
  node: GraphNode;
  state: string | undefined;
  isSelected: boolean;
  isConnectable: boolean;
  onSelect: GraphOptions['onSelect'];
}>;

/** The second width leaves room for labels of edges. */
const columnWidths = [260, 360] as const;
const rowHeight = 95;
/** With a smaller zoom, nobody could read the text; the person moves the graph instead. A flow is shown as a whole. */
const readableZoom = 0.75;
/** More rows get more height. */
const maxShortRows = 4;

/** Import it lazily (lazy-graph.tsx), because the graph library is large. */
export function Graph({
  label,
  nodes,
  edges,
  state = {},
  isFlow = false,
  selected,
  onSelect,
  onConnect,
}: GraphOptions) {
  const columnWidth = columnWidths[edges.some((edge) => edge.label !== undefined) ? 1 : 0];
  const places = useMemo(() => layOut(nodes, edges, isFlow), [nodes, edges, isFlow]);
  const flowNodes: FlowNode[] = nodes.map((node) => {
    const { column, row } = places.get(node.id) ?? { column: 0, row: 0 };
    return {
      id: node.id,
      type: 'part',
      position: { x: column * columnWidth, y: row * rowHeight },
      data: {
        node,
        state: state[node.id],
        isSelected: node.id === selected,
        isConnectable: onConnect !== undefined,
        onSelect,
      },
    };
  });
  const lines = edges.map(({ from, to, label: name }) => ({
    id: `${from} → ${to} ${name ?? ''}`,
    label: name,
    source: from,
    target: to,
    markerEnd: { type: MarkerType.ArrowClosed, color: 'var(--strong-line)' },
  }));
  const isTall = Math.max(...[...places.values()].map(({ row }) => row)) >= maxShortRows;
  return (
    <div className={isTall ? `${styles.graph} ${styles.tall}` : styles.graph} role="group" aria-label={label}>
      <ReactFlow
        // A new key makes the view fit the graph again after nodes were added, removed or moved.
        key={[...places].map(([id, { column, row }]) => `${id} ${column} ${row}`).join('\n')}
        nodes={flowNodes}
        edges={lines}
        nodeTypes={nodeTypes}
        nodesDraggable={false}
        nodesFocusable={false}
        edgesFocusable={false}
        nodesConnectable={onConnect !== undefined}
        onConnect={({ source, target }) => onConnect?.({ from: source, to: target })}
        zoomOnScroll={false}
        preventScrolling={false}
        deleteKeyCode={null}
        minZoom={0.1}
        fitView
        fitViewOptions={isFlow ? { maxZoom: 1 } : { minZoom: readableZoom, maxZoom: 1 }}
      >
        <Background />
        <Controls showInteractive={false} />
      </ReactFlow>
    </div>
  );
}

function Part({ data: { node, state, isSelected, isConnectable, onSelect } }: NodeProps<FlowNode>) {
  const { id, title, detail } = node;
  const content = (
    <>
      <strong>
        <bdi>{title}</bdi>
      </strong>{' '}
      {state !== undefined && <Badge state={state} />}
      {detail !== undefined && <span className={styles.detail}>{detail}</span>}
    </>
  );
  return (
    <>
      <Handle type="target" position={Position.Left} isConnectable={isConnectable} />
      {onSelect ? (
        <button type="button" className={`${styles.node} nopan`} aria-pressed={isSelected} onClick={() => onSelect(id)}>
          {content}
        </button>
      ) : (
        <div className={styles.node}>{content}</div>
      )}
      <Handle type="source" position={Position.Right} isConnectable={isConnectable} />
    </>
  );
}

const nodeTypes: NodeTypes = { part: Part };
