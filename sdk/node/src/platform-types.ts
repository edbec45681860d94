/** What calls about schedules, tables and files take and give. Times are epoch seconds unless they say otherwise. */

export type Overlap = 'skip' | 'buffer_one' | 'buffer_all' | 'cancel_other' | 'allow_all';

interface ScheduleSettings {
  /** When it runs once, or from when an interval or a cron text holds. */
  schedule?: number;
  /** Seconds, a cron text, or a cron text with its IANA time zone. */
  frequency?: number | string | { cron: string; time_zone?: string } | null;
  limit?: number | null;
  /** One execution for each of its rows. */
  table?: string | null;
  overlap?: Overlap;
  catchup_window?: number;
  jitter?: number;
  pause_on_failure?: boolean;
}

export interface NewSchedule extends ScheduleSettings {
  /** The agentflow. */
  coworker_id: string;
  goal: string | { template: string; display_template?: string };
  type: 'once' | 'interval' | 'cron';
}

export interface ScheduleChanges extends ScheduleSettings {
  goal?: NewSchedule['goal'];
  type?: NewSchedule['type'];
  status?: 'active' | 'paused';
  /** Together with status `paused`. */
  reason?: string;
}

export interface Schedule {
  _id: string;
  projectID: string;
  coworker_id: string;
  created_by: string;
  created_at: number;
  updated_at: number | null;
  goal: { template: string; display_template: string };
  schedule: number;
  type: NewSchedule['type'];
  status: 'active' | 'paused' | 'completed';
  frequency: number | { cron: string; time_zone: string } | null;
  count: number;
  limit: number | null;
  table: string | null;
  conclusion: string | null;
  last_coworker_execution_id: string | null;
  last_record_id: string | null;
  /** The task of the last execution; empty before the first. */
  task_id: string;
  overlap: Overlap;
  /** Seconds, as is `jitter`. */
  catchup_window: number;
  jitter: number;
  pause_on_failure: boolean;
  reason: string | null;
}

export interface ScheduleRun {
  scheduled_for: number;
  started_at: number | null;
  ended_at: number | null;
  status: 'running' | 'completed' | 'failed' | 'cancelled' | 'skipped' | 'missed';
  reason: string | null;
  executions: { execution_id: string | null; record_id: string | null; status: string; error: string | null }[];
  error: string | null;
}

export interface ScheduleRuns {
  /** Newest first. */
  data: ScheduleRun[];
  total_count: number;
  next_cursor: string | null;
  /** The next ten that are planned; none while it is paused. */
  next: number[];
  skipped_overlap: number;
  missed_catchup: number;
}

export type ColumnType = 'string' | 'number' | 'integer' | 'boolean' | 'date' | 'enum' | 'array' | 'object';

/** Of the values of an object column. */
export interface ObjectField {
  name: string;
  type: 'string' | 'number' | 'integer' | 'boolean' | 'date';
  required?: boolean;
}

export interface NewColumn {
  column_name: string;
  column_type: ColumnType;
  array_type?: 'string' | 'number' | 'integer' | 'boolean' | 'date' | 'object' | null;
  default_value?: unknown;
  object_fields?: ObjectField[] | null;
  enum_options?: (string | number | boolean)[] | null;
}

export interface Column {
  column_name: string;
  column_type: ColumnType;
  /** The key of its values in records. */
  column_id: string;
  array_type: string | null;
  default_value: unknown;
  object_fields: ObjectField[] | null;
  triggers: unknown[] | null;
  enum_options: (string | number | boolean)[] | null;
}

export interface Table {
  _id: string;
  projectID: string;
  table_name: string;
  columns: Column[];
  connector_id: string;
  triggers: unknown[] | null;
  last_row_id: number;
}

/** Values by `column_id`. */
export type RowValues = Record<string, unknown>;
export type TableRecord = { _id: string; row_id: number; coworker_user_id: string } & RowValues;

export interface FileToUpload {
  name: string;
  content: Blob | Uint8Array | string;
  /** A media type; the service looks at the bytes. */
  type?: string;
}

export interface StoredFile {
  _id: string;
  projectID: string;
  name: string;
  mime_type: string;
  location: string;
  tags: string[];
  source_type: string;
  size_in_kb: number;
  container_name: string;
  /** Downloads the file for an hour without another credential. */
  url: string;
  connector_id: string;
  /** Epoch milliseconds. */
  uploaded_on: number;
  status: 'uploading' | 'ready' | 'failed' | 'deleted';
}
