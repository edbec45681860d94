import type { Agentflow, AgentflowChanges, NewAgentflow, Promotion } from './agentflow-types.js';
import { createExecutions } from './executions.js';
import type { Page, PageQuery } from './page.js';
import type {
  Column,
  FileToUpload,
  NewColumn,
  NewSchedule,
  RowValues,
  Schedule,
  ScheduleChanges,
  ScheduleRuns,
  StoredFile,
  Table,
  TableRecord,
} from './platform-types.js';
import type { CallOptions, SendRequest, Transport } from './transport.js';

/** The workflow platform, in the client's project. Every call rejects with `ServiceError` where the service refuses. */
export function createPlatform(transport: Transport) {
  const projectID = transport.workspace.projectId;
  const request: SendRequest = (method, path, parts = {}, options) => transport.call('platform', { method, path, ...parts }, options);
  return {
    /** Any other route of the platform API, such as `request('GET', '/marketplace')`. */
    request,
    agentflows: createAgentflows(request, projectID),
    executions: createExecutions(transport, request),
    schedules: createSchedules(request, projectID),
    tables: createTables(request, projectID),
    files: createFiles(transport, request),
  };
}

export type Platform = ReturnType<typeof createPlatform>;

function createAgentflows(request: SendRequest, projectID: string) {
  const at = (id: string) => `/agentflow/${encodeURIComponent(id)}`;
  return {
    create: (agentflow: NewAgentflow, options?: CallOptions) => request<Agentflow>('POST', '/agentflow', { query: { projectID }, body: agentflow }, options),
    list: (query: PageQuery = {}, options?: CallOptions) => request<Page<Agentflow>>('GET', '/agentflow', { query: { projectID, ...query } }, options),
    get: (id: string, options?: CallOptions) => request<Agentflow>('GET', at(id), {}, options),
    update: (id: string, changes: AgentflowChanges, options?: CallOptions) => request<Agentflow>('PATCH', at(id), { body: changes }, options),
    /** Gives the last record. */
    delete: (id: string, options?: CallOptions) => request<Agentflow>('DELETE', at(id), {}, options),
    /** Freezes a version, which `gateway.runAgent` runs. */
    promote: (id: string, options?: CallOptions) => request<Promotion>('POST', `${at(id)}/promote`, { body: {} }, options),
  };
}

function createSchedules(request: SendRequest, projectID: string) {
  const at = (id: string) => `/schedule/coworker/${encodeURIComponent(id)}`;
  return {
    create: (schedule: NewSchedule, options?: CallOptions) =>
      request<Schedule>('POST', '/schedule/coworker', { query: { projectID }, body: schedule }, options),
    list: (query: PageQuery = {}, options?: CallOptions) =>
      request<Page<Schedule>>('GET', '/schedule/coworker', { query: { projectID, ...query } }, options),
    get: (id: string, options?: CallOptions) => request<Schedule>('GET', at(id), {}, options),
    update: (id: string, changes: ScheduleChanges, options?: CallOptions) => request<Schedule>('PATCH', at(id), { body: changes }, options),
    /** Gives the last record. */
    delete: (id: string, options?: CallOptions) => request<Schedule>('DELETE', at(id), { query: { projectID } }, options),
    trigger: (id: string, options?: CallOptions) => request<Schedule>('POST', `${at(id)}/trigger`, { body: {} }, options),
    backfill: (id: string, range: { from: number; to: number }, options?: CallOptions) =>
      request<{ planned: number[] }>('POST', `${at(id)}/backfill`, { body: range }, options),
    /** What fired, was skipped or missed, and the next ten. */
    runs: (id: string, query: PageQuery = {}, options?: CallOptions) => request<ScheduleRuns>('GET', `${at(id)}/runs`, { query: { ...query } }, options),
  };
}

function createTables(request: SendRequest, projectID: string) {
  const storage = `/storage/${encodeURIComponent(projectID)}`;
  const at = (id: string) => `${storage}/table/${encodeURIComponent(id)}`;
  const recordAt = (id: string, recordId: string) => `${at(id)}/records/${encodeURIComponent(recordId)}`;
  return {
    create: (table: { table_name: string; columns?: NewColumn[] }, options?: CallOptions) =>
      request<Table>('POST', `${storage}/table`, { body: table }, options),
    async list(query: PageQuery = {}, options?: CallOptions): Promise<Page<Table>> {
      const { tables, ...page } = await request<Omit<Page<Table>, 'data'> & { tables: Table[] }>('GET', storage, { query: { ...query } }, options);
      return { data: tables, ...page };
    },
    addColumn: (id: string, column: NewColumn, options?: CallOptions) => request<Column>('POST', `${at(id)}/column`, { body: column }, options),
    /** With the column's data in every record; cannot be undone. */
    deleteColumn: (id: string, columnId: string, options?: CallOptions) =>
      request<string>('DELETE', `/delete/column/${encodeURIComponent(projectID)}`, { body: { table_id: id, column_id: columnId } }, options),
    insertRow: (id: string, row: RowValues, options?: CallOptions) => request<TableRecord>('POST', `${at(id)}/row`, { body: row }, options),
    /** 1 to 1,000 rows: all of them or none. */
    insertRows: (id: string, rows: RowValues[], options?: CallOptions) => request<TableRecord[]>('POST', `${at(id)}/row`, { body: rows }, options),
    /** `filter` is `{column_id: value}` or `{column_id: {gte: 10}}`; `sort` a column_id, with `-` before it for descending. */
    records: (id: string, { filter, ...query }: PageQuery & { filter?: object; sort?: string } = {}, options?: CallOptions) =>
      request<Page<TableRecord>>('GET', `${at(id)}/records`, { query: { ...query, ...(filter && { filter: JSON.stringify(filter) }) } }, options),
    record: (id: string, recordId: string, options?: CallOptions) => request<TableRecord>('GET', recordAt(id, recordId), {}, options),
    updateRecord: (id: string, recordId: string, values: RowValues, options?: CallOptions) =>
      request<TableRecord>('PUT', recordAt(id, recordId), { body: values }, options),
    deleteRecord: (id: string, recordId: string, options?: CallOptions) => request<TableRecord>('DELETE', recordAt(id, recordId), {}, options),
  };
}

function createFiles(transport: Transport, request: SendRequest) {
  const folder = `/file/${encodeURIComponent(transport.workspace.projectId)}`;
  const get = (id: string, options?: CallOptions) => request<StoredFile>('GET', `${folder}/${encodeURIComponent(id)}`, {}, options);
  return {
    /** All of the files are kept, or none; they come back in their order. */
    async upload(files: FileToUpload[], about: { tags?: string[]; connector_id?: string } = {}, options?: CallOptions): Promise<StoredFile[]> {
      const { tags = [], connector_id } = about;
      const form = new FormData();
      if (tags.length > 0) form.append('tags', JSON.stringify(tags));
      if (connector_id !== undefined) form.append('connector_id', connector_id);
      for (const { name, content, type = '' } of files) form.append('file', content instanceof Blob ? content : new Blob([content], { type }), name);
      return (await request<{ data: StoredFile[] }>('POST', folder, { body: form }, options)).data;
    },
    get,
    /** Gives the last record. */
    delete: (id: string, options?: CallOptions) => request<StoredFile>('DELETE', `${folder}/${encodeURIComponent(id)}`, {}, options),
    async download(id: string, options?: CallOptions): Promise<Uint8Array> {
      return transport.download((await get(id, options)).url, options);
    },
  };
}
