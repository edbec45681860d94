import { z } from 'zod';
import { AppError, isRefusal, notFound } from '../../base/errors.js';
import { textFacts, type Operation } from '../../governance/operations/operation.js';
import { Id, newId } from '../../base/ids.js';
import { defineCollection } from '../../stores/collections.js';
import { insertOnce } from '../../stores/insert-once.js';
import { type Mongo } from '../../stores/mongo.js';
import { untilWritten } from '../../stores/until-written.js';
import { epochSeconds } from '../../base/time.js';
import { defineOperation, reads, writes } from '../operation.js';
import { cellFor, tabFor } from './layout.js';
import { runPipeline } from './run.js';
import { Component, Dashboard, NewComponent, type Definition } from './schemas.js';
import { taskManagerPipeline } from './task-manager.js';

/** All definitions and results must fit into one document, which MongoDB limits to 16 MiB. See `resultBounds`. */
const maxComponents = 24;
const maxDefinitionBytes = 200_000;
const addTimeoutMs = 5_000;

/** Definition and result are JSON text, because MongoDB does not accept every field name that they may contain. */
interface StoredComponent {
  component_id: string;
  definition: string;
  result: string;
  refreshed_at: number;
}

/** `_id` is the project's id. */
interface DashboardDocument extends Omit<Dashboard, 'components'> {
  components: StoredComponent[];
  /** The number of layout changes, for optimistic locking. */
  revision: number;
}

type Result = Pick<Component, 'data' | 'error'>;

/** The dashboard as last refreshed. The first read creates it with a task board. */
export const readDashboard = defineOperation({
  name: 'dashboard.read',
  ...reads,
  output: Dashboard,
  run: async ({ deps, ctx }) => toDashboard(await ensureDashboard(deps.mongo, ctx.principal.projectId)),
});

/** Runs every pipeline. A failed pipeline sets the error of its component and does not affect the others. */
export const refreshDashboard = defineOperation({
  name: 'dashboard.refresh',
  effect: 'data',
  grant: 'svc:orchestrate.write',
  output: Dashboard,
  async run({ deps: { mongo }, ctx }) {
    const { projectId } = ctx.principal;
    const { components } = await ensureDashboard(mongo, projectId);
    await Promise.all(components.map((component) => refreshComponent(mongo, projectId, component)));
    return toDashboard(await ensureDashboard(mongo, projectId));
  },
});

/** Rules treat adding and deleting a component as one operation. */
const updateRules: Operation = { name: 'dashboard.update', ...writes, facts: textFacts('component_id') };

/**
 * Runs the pipeline of a component and adds the component to the layout. Concurrent additions are all kept and do not
 * overlap. Idempotent by the record id. Throws `validation_failed` for an invalid pipeline, an unknown tab or a full
 * dashboard, and `not_found` for the table.
 */
export const addComponent = defineOperation({
  ...updateRules,
  input: NewComponent,
  output: Component,
  errors: ['not_found', 'validation_failed', 'conflict'],
  async run({ deps: { mongo }, ctx: { principal, recordId: id }, input }) {
    const { dashboards } = mongo.collections;
    const { projectId } = principal;
    const definition = definitionOf(input, projectId, id);
    const refreshed_at = epochSeconds();
    const result: Result = { data: await runPipeline(mongo, projectId, definition), error: null };
    const newTabId = newId();
    const attempt = async (): Promise<Component | undefined> => {
      const { _id, revision, components, tabs, position } = await ensureDashboard(mongo, projectId);
      const existing = components.find(({ component_id }) => component_id === id);
      if (existing) return toComponent(existing);
      if (components.length >= maxComponents)
        throw new AppError('validation_failed', `a dashboard must not have more than ${maxComponents} components`);
      const tab = tabFor(tabs, input, newTabId);
      const stored = storedComponent({ ...definition, tab_id: tab.id }, result, refreshed_at);
      const written = await dashboards.updateOne(
        { _id, revision },
        {
          $push: {
            components: stored,
            position: cellFor(position, tab.id, id, input.position),
            ...(tab.id === newTabId && { tabs: tab }),
          },
          $inc: { revision: 1 },
        },
      );
      return written.matchedCount === 1 ? toComponent(stored) : undefined;
    };
    const late = () => new AppError('conflict', 'too many concurrent changes to the dashboard; try again');
    return untilWritten(addTimeoutMs, attempt, late);
  },
});

/** Deletes a component and its cell in the layout. Returns its last record. */
export const deleteComponent = defineOperation({
  ...updateRules,
  key: z.object({ component_id: Id }),
  output: Component,
  async run({ deps, ctx, key: { component_id: id } }) {
    const before = await deps.mongo.collections.dashboards.findOneAndUpdate(
      { _id: ctx.principal.projectId, 'components.component_id': id },
      { $pull: { components: { component_id: id }, position: { i: id } }, $inc: { revision: 1 } },
      { returnDocument: 'before' },
    );
    const component = before?.components.find(({ component_id }) => component_id === id);
    if (!component) throw notFound('the component');
    return toComponent(component);
  },
});

/** Does nothing if the component was deleted, or refreshed by a later call. */
async function refreshComponent(mongo: Mongo, projectId: string, { component_id, definition }: StoredComponent) {
  const refreshed_at = epochSeconds();
  const result = JSON.stringify(await outcomeOf(mongo, projectId, JSON.parse(definition) as Definition));
  await mongo.collections.dashboards.updateOne(
    { _id: projectId },
    { $set: { 'components.$[it].result': result, 'components.$[it].refreshed_at': refreshed_at } },
    { arrayFilters: [{ 'it.component_id': component_id, 'it.refreshed_at': { $lt: refreshed_at } }] },
  );
}

async function ensureDashboard(mongo: Mongo, projectId: string): Promise<DashboardDocument> {
  const { dashboards } = mongo.collections;
  return (
    (await dashboards.findOne({ _id: projectId })) ?? insertOnce(dashboards, await firstDashboard(mongo, projectId))
  );
}

async function firstDashboard(mongo: Mongo, projectId: string): Promise<DashboardDocument> {
  const tab = { name: 'Overview', id: newId() };
  const input = NewComponent.parse({
    component_type: 'taskManager',
    title: 'Tasks',
    subTitle: 'By status, newest first',
    icon: 'tasks',
    position: { w: 12, h: 8, minW: 4, minH: 4 },
  });
  const definition = { ...definitionOf(input, projectId, newId()), tab_id: tab.id };
  const refreshed_at = epochSeconds();
  const component = storedComponent(definition, await outcomeOf(mongo, projectId, definition), refreshed_at);
  return {
    _id: projectId,
    name: 'Dashboard',
    description: '',
    project_id: projectId,
    coworker_id: null,
    tabs: [tab],
    position: [cellFor([], tab.id, component.component_id, input.position)],
    components: [component],
    revision: 0,
  };
}

function definitionOf(
  { projectID: _checked, tab_id: _tab, tab_name: _name, position: _place, ...input }: NewComponent,
  projectId: string,
  id: string,
): Definition {
  const resource = input.resource ?? (input.table_id === null ? 'tasks' : 'table');
  if ((resource === 'table') !== (input.table_id !== null))
    throw new AppError(
      'validation_failed',
      'table_id: is required for the resource "table" and must be omitted for other resources',
    );
  const pipeline =
    input.query?.aggregation_code ??
    (input.component_type === 'taskManager' && resource === 'tasks' ? taskManagerPipeline(projectId) : undefined);
  if (!pipeline) throw new AppError('validation_failed', 'query: is required for this component');
  const definition = { ...input, resource, query: { aggregation_code: pipeline }, component_id: id, tab_id: '' };
  if (Buffer.byteLength(JSON.stringify(definition)) > maxDefinitionBytes)
    throw new AppError('validation_failed', `the component must not exceed ${maxDefinitionBytes} bytes`);
  return definition;
}

/** The data or the error of a pipeline. Throws if the store itself fails. */
async function outcomeOf(mongo: Mongo, projectId: string, definition: Definition): Promise<Result> {
  try {
    return { data: await runPipeline(mongo, projectId, definition), error: null };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return { data: [], error: error.message };
  }
}

function storedComponent(definition: Definition, result: Result, refreshed_at: number): StoredComponent {
  return {
    component_id: definition.component_id,
    definition: JSON.stringify(definition),
    result: JSON.stringify(result),
    refreshed_at,
  };
}

function toComponent({ definition, result, refreshed_at }: StoredComponent): Component {
  return { ...(JSON.parse(definition) as Definition), ...(JSON.parse(result) as Result), refreshed_at };
}

function toDashboard({ revision: _revision, components, ...dashboard }: DashboardDocument): Dashboard {
  return { ...dashboard, components: components.map(toComponent) };
}

export const dashboardsCollection = defineCollection('dashboards', {});

declare module '../../stores/collections.js' {
  interface Documents {
    dashboards: DashboardDocument;
  }
}
