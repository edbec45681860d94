import type { Call } from './call.js';
import { followEvents, type FollowOptions } from './events.js';
import { createExecutions } from './executions.js';
import type { Page, PageQuery } from './page.js';
import type { CallOptions, SendRequest, Transport } from './transport.js';
import type {
  AgentflowChanges,
  FileToUpload,
  NewAgentflow,
  NewColumn,
  NewSchedule,
  ProjectEvent,
  RowValues,
  ScheduleChanges,
  StoredFile,
  Table,
  TableRecord,
} from './types.js';

/**
 * Calls of the workflow platform in the client's project. Each call rejects with `ServiceError` if the service refuses
 * it.
 */
export function createPlatform(transport: Transport, call: Call) {
  const request: SendRequest = (method, path, parts = {}, options) =>
    transport.call('platform', { method, path, takesKey: method === 'POST', ...parts }, options);
  return {
    /**
     * Sends a request to a route that this version of the client does not know. For known routes, use the typed
     * `client.call`.
     */
    request,
    /** Yields changes in the project without end, from now or after `lastEventId`. */
    events: (options?: FollowOptions) =>
      followEvents<ProjectEvent>(transport, `/${encodeURIComponent(transport.workspace.projectId)}/events`, options),
    agentflows: createAgentflows(call),
    executions: createExecutions(transport, call),
    schedules: createSchedules(call),
    tables: createTables(call),
    files: createFiles(transport, call),
  };
}

export type Platform = ReturnType<typeof createPlatform>;

function createAgentflows(call: Call) {
  const at = (id: string) => ({ params: { id } });
  return {
    create: (agentflow: NewAgentflow, options?: CallOptions) =>
      call('post', '/agentflow', { body: agentflow }, options),
    list: (query: PageQuery = {}, options?: CallOptions) => call('get', '/agentflow', { query }, options),
    get: (id: string, options?: CallOptions) => call('get', '/agentflow/{id}', at(id), options),
    update: (id: string, changes: AgentflowChanges, options?: CallOptions) =>
      call('patch', '/agentflow/{id}', { ...at(id), body: changes }, options),
    /** Returns the deleted record. */
    delete: (id: string, options?: CallOptions) => call('delete', '/agentflow/{id}', at(id), options),
    /** Freezes the current state as a version, which `gateway.runAgent` runs. */
    promote: (id: string, options?: CallOptions) => call('post', '/agentflow/{id}/promote', at(id), options),
  };
}

function createSchedules(call: Call) {
  const at = (id: string) => ({ params: { id } });
  return {
    create: (schedule: NewSchedule, options?: CallOptions) =>
      call('post', '/schedule/coworker', { body: schedule }, options),
    list: (query: PageQuery = {}, options?: CallOptions) => call('get', '/schedule/coworker', { query }, options),
    get: (id: string, options?: CallOptions) => call('get', '/schedule/coworker/{id}', at(id), options),
    update: (id: string, changes: ScheduleChanges, options?: CallOptions) =>
      call('patch', '/schedule/coworker/{id}', { ...at(id), body: changes }, options),
    /** Returns the deleted record. */
    delete: (id: string, options?: CallOptions) => call('delete', '/schedule/coworker/{id}', at(id), options),
    trigger: (id: string, options?: CallOptions) => call('post', '/schedule/coworker/{id}/trigger', at(id), options),
    backfill: (id: string, range: { from: number; to: number }, options?: CallOptions) =>
      call('post', '/schedule/coworker/{id}/backfill', { ...at(id), body: range }, options),
    /** Returns the past runs, including skipped and missed ones, and the next ten times. */
    runs: (id: string, query: PageQuery = {}, options?: CallOptions) =>
      call('get', '/schedule/coworker/{id}/runs', { ...at(id), query }, options),
  };
}

function createTables(call: Call) {
  const at = (id: string) => ({ params: { table_id: id } });
  const recordAt = (id: string, recordId: string) => ({ params: { table_id: id, record_id: recordId } });
  const record = '/storage/{projectID}/table/{table_id}/records/{record_id}';
  return {
    create: (table: { table_name: string; columns?: NewColumn[] }, options?: CallOptions) =>
      call('post', '/storage/{projectID}/table', { body: table }, options),
    async list(query: PageQuery = {}, options?: CallOptions): Promise<Page<Table>> {
      const { tables, ...page } = await call('get', '/storage/{projectID}', { query }, options);
      return { data: tables, ...page };
    },
    addColumn: (id: string, column: NewColumn, options?: CallOptions) =>
      call('post', '/storage/{projectID}/table/{table_id}/column', { ...at(id), body: column }, options),
    /** Deletes a column and its values in every record. This cannot be undone. */
    deleteColumn: (id: string, columnId: string, options?: CallOptions) =>
      call('delete', '/delete/column/{projectID}', { body: { table_id: id, column_id: columnId } }, options),
    insertRow: (id: string, row: RowValues, options?: CallOptions) =>
      call(
        'post',
        '/storage/{projectID}/table/{table_id}/row',
        { ...at(id), body: row },
        options,
      ) as Promise<TableRecord>,
    /** Inserts 1 to 1,000 rows, either all or none. */
    insertRows: (id: string, rows: RowValues[], options?: CallOptions) =>
      call('post', '/storage/{projectID}/table/{table_id}/row', { ...at(id), body: rows }, options) as Promise<
        TableRecord[]
      >,
    /**
     * `filter` is `{column_id: value}` or `{column_id: {gte: 10}}`. `sort` is a column_id; the prefix `-` sorts in
     * descending order.
     */
    records: (
      id: string,
      { filter, ...query }: PageQuery & { filter?: object; sort?: string } = {},
      options?: CallOptions,
    ) =>
      call(
        'get',
        '/storage/{projectID}/table/{table_id}/records',
        { ...at(id), query: { ...query, ...(filter && { filter: JSON.stringify(filter) }) } },
        options,
      ),
    record: (id: string, recordId: string, options?: CallOptions) =>
      call('get', record, recordAt(id, recordId), options),
    updateRecord: (id: string, recordId: string, values: RowValues, options?: CallOptions) =>
      call('put', record, { ...recordAt(id, recordId), body: values }, options),
    deleteRecord: (id: string, recordId: string, options?: CallOptions) =>
      call('delete', record, recordAt(id, recordId), options),
  };
}

function createFiles(transport: Transport, call: Call) {
  const at = (id: string) => ({ params: { file_id: id } });
  const get = (id: string, options?: CallOptions) => call('get', '/file/{projectID}/{file_id}', at(id), options);
  return {
    /** Stores either all files or none. Returns them in the order of `files`. */
    async upload(
      files: FileToUpload[],
      about: { tags?: string[]; connector_id?: string } = {},
      options?: CallOptions,
    ): Promise<StoredFile[]> {
      const { tags = [], connector_id } = about;
      const form = new FormData();
      if (tags.length > 0) form.append('tags', JSON.stringify(tags));
      if (connector_id !== undefined) form.append('connector_id', connector_id);
      for (const { name, content, type = '' } of files)
        form.append('file', content instanceof Blob ? content : new Blob([content], { type }), name);
      return (await call('post', '/file/{projectID}', { body: form }, options)).data;
    },
    get,
    /** Returns the deleted record. */
    delete: (id: string, options?: CallOptions) => call('delete', '/file/{projectID}/{file_id}', at(id), options),
    async download(id: string, options?: CallOptions): Promise<Uint8Array> {
      return transport.download((await get(id, options)).url, options);
    },
  };
}
