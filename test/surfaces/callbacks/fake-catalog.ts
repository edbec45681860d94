import { createServer, type ServerResponse } from 'node:http';
import { listen } from '../../support/ports.js';

interface FakeTable {
  id: string;
  name: string;
  columns?: string[];
  owners?: string[];
  feeds?: string[];
}

export interface FakeCatalog {
  url: string;
  tables: FakeTable[];
  requests: { path: string; authorization: string | undefined; at: number }[];
  /** The number of runs that have begun, which is the number of requests for the first page. */
  firstPages(): number;
  /** Handles the requests for which it returns true. */
  intercept(respond: ((path: string, res: ServerResponse) => boolean) | null): void;
  hold(): () => void;
  close(): Promise<void>;
}

/** A catalog with the API of OpenMetadata and two tables per page. */
export async function startFakeCatalog(): Promise<FakeCatalog> {
  const requests: FakeCatalog['requests'] = [];
  let intercept: ((path: string, res: ServerResponse) => boolean) | null = null;
  let gate: Promise<void> | undefined;
  const catalog: Pick<FakeCatalog, 'tables'> = { tables: [] };
  const server = createServer((req, res) => {
    const path = req.url ?? '';
    requests.push({ path, authorization: req.headers.authorization, at: Date.now() });
    if (intercept?.(path, res)) return;
    void (gate ?? Promise.resolve()).then(() => {
      const { pathname, searchParams } = new URL(path, 'http://x');
      const body =
        pathname === '/api/v1/tables'
          ? page(catalog.tables, searchParams.get('after'))
          : lineage(catalog.tables, pathname.split('/').at(-1) ?? '');
      res.writeHead(body ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(body ?? {}));
    });
  });
  const { url, close } = await listen(server);
  return Object.assign(catalog, {
    url,
    requests,
    firstPages: () =>
      requests.filter(({ path }) => path.startsWith('/api/v1/tables') && !path.includes('after=')).length,
    intercept: (respond: typeof intercept) => void (intercept = respond),
    hold() {
      let release = () => undefined as void;
      gate = new Promise((resolve) => {
        release = () => {
          gate = undefined;
          resolve();
        };
      });
      return () => release();
    },
    close,
  });
}

const pageSize = 2;

function page(tables: readonly FakeTable[], after: string | null) {
  const from = Number(after ?? 0);
  const next = from + pageSize;
  const data = tables
    .slice(from, next)
    .map(({ id, name, columns = [], owners = [] }) => ({
      id,
      name,
      fullyQualifiedName: `shop.${name}`,
      columns: columns.map((column) => ({
        name: column,
        dataType: 'INT',
        fullyQualifiedName: `shop.${name}.${column}`,
      })),
      owners: owners.map((owner) => ({ id: owner, type: 'user', name: owner })),
      tags: [{ tagFQN: 'Tier.One' }],
    }));
  return { data, paging: { total: tables.length, ...(next < tables.length ? { after: String(next) } : {}) } };
}

function lineage(tables: readonly FakeTable[], id: string) {
  const table = tables.find((each) => each.id === id);
  if (!table) return undefined;
  const feeds = table.feeds ?? [];
  return {
    entity: { id, type: 'table' },
    nodes: feeds.map((to) => ({
      id: to,
      type: tables.some((each) => each.id === to) ? 'table' : 'dashboard',
      name: to,
    })),
    upstreamEdges: [],
    downstreamEdges: feeds.map((toEntity) => ({ fromEntity: id, toEntity })),
  };
}
