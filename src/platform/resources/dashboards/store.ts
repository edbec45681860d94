import { setTimeout as delay } from 'node:timers/promises';
import type { Principal } from '../../../auth/principal.js';
import { AppError, isAppError, notFound } from '../../../errors.js';
import { newId } from '../../../ids.js';
import { insertOnce, type Mongo } from '../../../stores/mongo.js';
import { epochSeconds } from '../../../time.js';
import { cellFor, tabFor } from './layout.js';
import { runPipeline } from './run.js';
import { NewComponent, type Component, type Dashboard, type Definition } from './schemas.js';
import { taskManagerPipeline } from './task-manager.js';

/** So many that all their results fit into one document. */
const componentsAtMost = 24;
const addForMs = 5_000;

/** JSON as text: its field names are the caller's, and may be such as MongoDB does not store. */
interface StoredComponent {
  component_id: string;
  definition: string;
  result: string;
  refreshed_at: number;
}

/** `_id` is the project's id. */
export interface DashboardDocument extends Omit<Dashboard, 'components'> {
  components: StoredComponent[];
  /** Counts the changes of the layout. */
  revision: number;
}

type Result = Pick<Component, 'data' | 'error'>;

/** The dashboard as it was last refreshed; made with a task board when it is first asked for. */
export async function readDashboard(mongo: Mongo, principal: Principal): Promise<Dashboard> {
  return shown(await ensureDashboard(mongo, principal));
}

/** Runs every pipeline; one that fails shows its error and leaves the others alone. */
export async function refreshDashboard(mongo: Mongo, principal: Principal): Promise<Dashboard> {
  const { components } = await ensureDashboard(mongo, principal);
  await Promise.all(components.map((component) => refreshComponent(mongo, principal.projectId, component)));
  return readDashboard(mongo, principal);
}

/** A component that was deleted meanwhile, or refreshed by a later call, is left as it is. */
async function refreshComponent(mongo: Mongo, projectId: string, { component_id, definition }: StoredComponent): Promise<void> {
  const refreshed_at = epochSeconds();
  const result = JSON.stringify(await outcomeOf(mongo, projectId, JSON.parse(definition) as Definition));
  await mongo.collections.dashboards.updateOne(
    { _id: projectId },
    { $set: { 'components.$[it].result': result, 'components.$[it].refreshed_at': refreshed_at } },
    { arrayFilters: [{ 'it.component_id': component_id, 'it.refreshed_at': { $lt: refreshed_at } }] },
  );
}

/**
 * Adds a component with its data and its place; none of several that are added at once is lost or covers another.
 * A repeat after a crash finds the component by its id.
 * @throws AppError `validation_failed` for a pipeline that is refused, an unknown tab or a full dashboard; `not_found` (table)
 */
export async function addComponent(mongo: Mongo, principal: Principal, input: NewComponent, id: string): Promise<Component> {
  const { dashboards } = mongo.collections;
  const definition = definitionOf(input, principal.projectId, id);
  const refreshed_at = epochSeconds();
  const result: Result = { data: await runPipeline(mongo, principal.projectId, definition), error: null };
  const newTabId = newId();
  const deadline = Date.now() + addForMs;
  do {
    const { _id, revision, components, tabs, position } = await ensureDashboard(mongo, principal);
    const made = components.find(({ component_id }) => component_id === id);
    if (made) return shownComponent(made);
    if (components.length >= componentsAtMost) throw new AppError('validation_failed', `a dashboard has at most ${componentsAtMost} components`);
    const tab = tabFor(tabs, input, newTabId);
    const stored = storedComponent({ ...definition, tab_id: tab.id }, result, refreshed_at);
    const written = await dashboards.updateOne(
      { _id, revision },
      {
        $push: { components: stored, position: cellFor(position, tab.id, id, input.position), ...(tab.id === newTabId && { tabs: tab }) },
        $inc: { revision: 1 },
      },
    );
    if (written.matchedCount === 1) return shownComponent(stored);
    await delay(Math.random() * 50);
  } while (Date.now() < deadline);
  throw new AppError('conflict', 'the dashboard is being changed by too many calls at once');
}

/** Takes a component and its place away; answers its last record. */
export async function deleteComponent({ collections: { dashboards } }: Mongo, { projectId }: Principal, id: string): Promise<Component> {
  const before = await dashboards.findOneAndUpdate(
    { _id: projectId, 'components.component_id': id },
    { $pull: { components: { component_id: id }, position: { i: id } }, $inc: { revision: 1 } },
    { returnDocument: 'before' },
  );
  const component = before?.components.find(({ component_id }) => component_id === id);
  if (!component) throw notFound('the component');
  return shownComponent(component);
}

async function ensureDashboard(mongo: Mongo, { projectId }: Principal): Promise<DashboardDocument> {
  const { dashboards } = mongo.collections;
  return (await dashboards.findOne({ _id: projectId })) ?? insertOnce(dashboards, await firstDashboard(mongo, projectId));
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

function definitionOf({ projectID: _agrees, tab_id: _tab, tab_name: _name, position: _place, ...input }: NewComponent, projectId: string, id: string): Definition {
  const resource = input.resource ?? (input.table_id === null ? 'tasks' : 'table');
  if ((resource === 'table') !== (input.table_id !== null)) throw new AppError('validation_failed', 'resource, table_id: a table needs both, anything else no table_id');
  const pipeline = input.query?.aggregation_code ?? (input.component_type === 'taskManager' && resource === 'tasks' ? taskManagerPipeline(projectId) : undefined);
  if (!pipeline) throw new AppError('validation_failed', 'query: needed for this component');
  return { ...input, resource, query: { aggregation_code: pipeline }, component_id: id, tab_id: '' };
}

/** What a run found; a fault of the store itself is no result. */
async function outcomeOf(mongo: Mongo, projectId: string, definition: Definition): Promise<Result> {
  try {
    return { data: await runPipeline(mongo, projectId, definition), error: null };
  } catch (error) {
    if (!isAppError(error) || error.status >= 500) throw error;
    return { data: [], error: error.message };
  }
}

function storedComponent(definition: Definition, result: Result, refreshed_at: number): StoredComponent {
  return { component_id: definition.component_id, definition: JSON.stringify(definition), result: JSON.stringify(result), refreshed_at };
}

function shownComponent({ definition, result, refreshed_at }: StoredComponent): Component {
  return { ...(JSON.parse(definition) as Definition), ...(JSON.parse(result) as Result), refreshed_at };
}

function shown({ revision: _ours, components, ...dashboard }: DashboardDocument): Dashboard {
  return { ...dashboard, components: components.map(shownComponent) };
}
