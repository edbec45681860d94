import {
  Background,
  Controls,
  Handle,
  MarkerType,
  Position,
  ReactFlow,
  useNodesInitialized,
  useReactFlow,
  type FitViewOptions,
  type Node,
  type NodeChange,
  type NodeProps,
  type NodeTypes,
} from '@xyflow/react';
import { useEffect, useMemo, useState } from 'react';
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
const flowFit: FitViewOptions = { maxZoom: 1 };
const otherFit: FitViewOptions = { minZoom: readableZoom, maxZoom: 1 };
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
  const [sizes, onNodesChange] = useSizes();
  const flowNodes: FlowNode[] = nodes.map((node) => {
    const { column, row } = places.get(node.id) ?? { column: 0, row: 0 };
    return {
      id: node.id,
      type: 'part',
      // A node without a size is hidden until it is measured again, and would lose the focus.
      ...(sizes[node.id] && { measured: sizes[node.id] }),
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
  const fit = isFlow ? flowFit : otherFit;
  const isTall = Math.max(...[...places.values()].map(({ row }) => row)) >= maxShortRows;
  return (
    <div className={isTall ? `${styles.graph} ${styles.tall}` : styles.graph} role="group" aria-label={label}>
      <ReactFlow
        nodes={flowNodes}
        onNodesChange={onNodesChange}
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
        fitViewOptions={fit}
      >
        <FitAgain
          layout={[...places].map(([id, { column, row }]) => `${id} ${column} ${row}`).join('\n')}
          options={fit}
        />
        <Background />
        <Controls showInteractive={false} />
      </ReactFlow>
    </div>
  );
}

type Sizes = Readonly<Record<string, { width: number; height: number }>>;

/** Keeps the measured sizes of the nodes, because each change of the graph makes new nodes. */
function useSizes(): [Sizes, (changes: readonly NodeChange<FlowNode>[]) => void] {
  const [sizes, setSizes] = useState<Sizes>({});
  const note = (changes: readonly NodeChange<FlowNode>[]) => {
    const measured = changes.flatMap((change) =>
      change.type === 'dimensions' && change.dimensions ? [[change.id, change.dimensions] as const] : [],
    );
    if (measured.length > 0) setSizes((before) => ({ ...before, ...Object.fromEntries(measured) }));
  };
  return [sizes, note];
}

interface FitOptions {
  /** The nodes and their places, as a text. */
  layout: string;
  options: FitViewOptions;
}

/** Makes the view fit the graph again after nodes were added, removed or moved. */
function FitAgain({ layout, options }: FitOptions) {
  const { fitView } = useReactFlow();
  const isMeasured = useNodesInitialized();
  useEffect(() => {
    if (isMeasured) void fitView(options);
  }, [fitView, isMeasured, layout, options]);
  return null;
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
