import type { Collection } from 'mongodb';
import { newId } from '../src/base/ids.js';
import type { ApiClient } from '../test/support/client.js';
import type { BenchEnvironment } from './environment.js';
import { eachSide, inTurns, medians, perSecond, range, timed, type Figure } from './measure.js';

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
  return [
    medians(`row inserts, ${callers} callers, against insertOne`, '1/s', single, 'at least 0.5'),
    medians('rows inserted 1,000 at a time, against insertMany', '1/s', bulk, 'none set'),
    medians(
      `filtered reads of ${records} records, ${callers} callers, against find with countDocuments`,
      '1/s',
      filtered,
      'none set',
    ),
    await pageFigure(tables, 'row_id', '-row_id'),
    await pageFigure(tables, 'a column', 'price'),
  ];
}

const rowOf = (at: number) => ({ name: `name ${at}`, price: at % 100 });

async function expectCreated(answer: Promise<{ status: number }>): Promise<void> {
  const { status } = await answer;
  if (status !== 201) throw new Error(`a row was not inserted: ${status}`);
}

function ratesOf(
  count: number,
  ours: (at: number) => Promise<unknown>,
  bare: (at: number) => Promise<unknown>,
  atOnce = callers,
) {
  return inTurns(
    rounds,
    () => perSecond(count, atOnce, ours),
    () => perSecond(count, atOnce, bare),
  );
}

async function insertRates({ api, path, bare }: Bench) {
  let rowId = 0;
  return ratesOf(
    inserts,
    (at) => expectCreated(api.post(`${path}/row`, rowOf(at))),
    (at) => bare.insertOne({ _id: newId(), row_id: (rowId += 1), ...rowOf(at) }),
  );
}

/** Inserts rows until both collections have at least `records`. */
async function bulkRates({ api, path, bare }: Bench) {
  let rowId = 1_000_000;
  const groups = Math.ceil((records - inserts * rounds) / 1000 / rounds);
  const rates = await ratesOf(
    groups,
    () => expectCreated(api.post(`${path}/row`, range(1000).map(rowOf))),
    () => bare.insertMany(range(1000).map((at) => ({ _id: newId(), row_id: (rowId += 1), ...rowOf(at) }))),
    1,
  );
  return eachSide(rates, (side) => side.map((rate) => rate * 1000));
}

async function filteredRates({ api, path, bare }: Bench) {
  const filter = (at: number) => ({ price: { $gte: at % 90, $lt: (at % 90) + 5 } });
  const query = (at: number) => encodeURIComponent(JSON.stringify({ price: { gte: at % 90, lt: (at % 90) + 5 } }));
  return ratesOf(
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

async function pageFigure({ api, path }: Bench, name: string, sort: string): Promise<Figure> {
  const list = async (cursor: string | null) => {
    const answer = await api.get(`${path}/records?limit=200&sort=${sort}${cursor === null ? '' : `&cursor=${cursor}`}`);
    if (answer.status !== 200) throw new Error(`a page was not answered: ${answer.status}`);
    return answer.body as { next_cursor: string | null };
  };
  let last: string | null = null;
  for (let page = await list(null); page.next_cursor !== null; page = await list(page.next_cursor))
    last = page.next_cursor;
  const times = await inTurns(
    20,
    () => timed(() => list(last)),
    () => timed(() => list(null)),
    0,
  );
  return medians(`last page of ${records} records against the first, by ${name}`, 'ms', times, 'flat');
}
