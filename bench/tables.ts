import type { Collection } from 'mongodb';
import { newId } from '../src/ids.js';
import type { ApiClient } from '../test/support/client.js';
import type { BenchEnvironment } from './environment.js';
import { figure, inParallel, median, range, timed, type Figure } from './measure.js';

const callers = 16;
const inserts = 800;
const reads = 400;
const records = 10_000;
const pageSize = 50;
const rounds = 3;

interface Row {
  _id: string;
  row_id: number;
  name: string;
  price: number;
}
interface Bench {
  api: ApiClient;
  path: string;
  bare: Collection<Row>;
}

/**
 * Compares row operations of the API with the driver on a collection of the same rows, and the last page of a long list
 * with the first.
 */
export async function benchTables(bench: BenchEnvironment): Promise<Figure[]> {
  const { api, projectID } = await bench.workspace();
  const columns = [
    { column_name: 'Name', column_type: 'string' },
    { column_name: 'Price', column_type: 'number' },
  ];
  const { body: table } = await api.post(`/storage/${projectID}/table`, { table_name: 'Bench', columns });
  const bare = bench.deps.mongo.db.collection<Row>(`bare_${newId()}`);
  await bare.createIndex({ row_id: 1 }, { unique: true });
  const tables = { api, path: `/storage/${projectID}/table/${(table as { _id: string })._id}`, bare };
  const single = await insertRates(tables);
  const bulk = await bulkRates(tables);
  const filtered = await filteredRates(tables);
  const pages = await pageTimes(tables);
  return [
    figure(`row inserts, ${callers} callers, against insertOne`, '1/s', single.ours, single.bare, 'at least 0.5'),
    figure('rows inserted 1,000 at a time, against insertMany', '1/s', bulk.ours, bulk.bare, 'none set'),
    figure(
      `filtered reads of ${records} records, ${callers} callers, against find with countDocuments`,
      '1/s',
      filtered.ours,
      filtered.bare,
      'none set',
    ),
    figure(
      `last page of ${records} records against the first, by row_id`,
      'ms',
      pages.byRowId.last,
      pages.byRowId.first,
      'flat',
    ),
    figure(
      `last page of ${records} records against the first, by a column`,
      'ms',
      pages.byColumn.last,
      pages.byColumn.first,
      'flat',
    ),
  ];
}

const rowOf = (at: number) => ({ name: `name ${at}`, price: at % 100 });

async function expectCreated(answer: Promise<{ status: number }>): Promise<void> {
  const { status } = await answer;
  if (status !== 201) throw new Error(`a row was not inserted: ${status}`);
}

/** Returns the median rates of alternating rounds. The first round only warms up. */
async function inTurns(
  count: number,
  ours: (at: number) => Promise<unknown>,
  bare: (at: number) => Promise<unknown>,
  atOnce = callers,
) {
  const rates: { ours: number; bare: number }[] = [];
  const rate = async (work: (at: number) => Promise<unknown>) =>
    (count / (await timed(() => inParallel(range(count), atOnce, async (at) => void (await work(at)))))) * 1000;
  for (let round = 0; round <= rounds; round += 1) rates.push({ ours: await rate(ours), bare: await rate(bare) });
  rates.shift();
  return { ours: median(rates.map((each) => each.ours)), bare: median(rates.map((each) => each.bare)) };
}

async function insertRates({ api, path, bare }: Bench) {
  let rowId = 0;
  return inTurns(
    inserts,
    (at) => expectCreated(api.post(`${path}/row`, rowOf(at))),
    (at) => bare.insertOne({ _id: newId(), row_id: (rowId += 1), ...rowOf(at) }),
  );
}

/** Inserts rows until both collections have at least `records`. */
async function bulkRates({ api, path, bare }: Bench) {
  let rowId = 1_000_000;
  const groups = Math.ceil((records - inserts * rounds) / 1000 / rounds);
  const { ours, bare: baseline } = await inTurns(
    groups,
    () => expectCreated(api.post(`${path}/row`, range(1000).map(rowOf))),
    () => bare.insertMany(range(1000).map((at) => ({ _id: newId(), row_id: (rowId += 1), ...rowOf(at) }))),
    1,
  );
  return { ours: ours * 1000, bare: baseline * 1000 };
}

async function filteredRates({ api, path, bare }: Bench) {
  const filter = (at: number) => ({ price: { $gte: at % 90, $lt: (at % 90) + 5 } });
  const query = (at: number) => encodeURIComponent(JSON.stringify({ price: { gte: at % 90, lt: (at % 90) + 5 } }));
  return inTurns(
    reads,
    (at) => api.get(`${path}/records?limit=${pageSize}&filter=${query(at)}`),
    (at) =>
      Promise.all([
        bare.countDocuments(filter(at)),
        bare
          .find(filter(at))
          .sort({ row_id: -1 })
          .limit(pageSize + 1)
          .toArray(),
      ]),
  );
}

async function pageTimes({ api, path }: Bench) {
  const firstAndLast = async (sort: string) => {
    const list = async (cursor: string | null) => {
      const answer = await api.get(
        `${path}/records?limit=200&sort=${sort}${cursor === null ? '' : `&cursor=${cursor}`}`,
      );
      if (answer.status !== 200) throw new Error(`a page was not answered: ${answer.status}`);
      return answer.body as { next_cursor: string | null };
    };
    let last: string | null = null;
    for (let page = await list(null); page.next_cursor !== null; page = await list(page.next_cursor))
      last = page.next_cursor;
    const times = { first: [] as number[], last: [] as number[] };
    for (let round = 0; round < 20; round += 1) {
      times.first.push(await timed(() => list(null)));
      times.last.push(await timed(() => list(last)));
    }
    return { first: median(times.first), last: median(times.last) };
  };
  return { byRowId: await firstAndLast('-row_id'), byColumn: await firstAndLast('price') };
}
