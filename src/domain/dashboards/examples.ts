import { taskManagerPipeline } from './task-manager.js';
import { exampleId } from '../../base/ids.js';

const projectId = '0199a6f0-0000-7c11-8d52-3f6f0e6f7a10';
const componentId = exampleId;

export const exampleComponent = {
  tab_id: 'main',
  component_type: 'taskManager',
  user_query: '',
  title: 'Tasks',
  subTitle: 'By status, newest first',
  component_id: componentId,
  resource: 'tasks' as const,
  table_id: null,
  process_buttons: [],
  button_title: '',
  coworker_id: null,
  column_keys: [],
  columns: [],
  icon: 'tasks',
  query: { aggregation_code: taskManagerPipeline(projectId) },
  data: [
    {
      status: 'running',
      data: [
        {
          _id: '0199a6f0-5a3c-7c11-8d52-3f6f0e6f7a12',
          created_at: 1764000000.5,
          status: 'running',
          name: 'Newcomer guide: Brief the newcomer',
        },
      ],
    },
  ],
  error: null,
  refreshed_at: 1764000100.5,
};

export const exampleDashboard = {
  _id: projectId,
  name: 'Dashboard',
  description: '',
  project_id: projectId,
  coworker_id: null,
  tabs: [{ name: 'Overview', id: 'main' }],
  position: [{ tab_id: 'main', x: 0, y: 0, h: 8, w: 12, i: componentId, minW: 4, minH: 4 }],
  components: [exampleComponent],
};
