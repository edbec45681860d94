export { agentflowExecution } from './agentflow-execution/workflow.js';
export { approval } from './approval/workflow.js';
export { catalogSync } from './catalog-sync/workflow.js';
export { codeSync } from './code-sync/workflow.js';
export { columnRemoval } from './column-removal/workflow.js';
export { connectorEvents } from './connector-events/workflow.js';
export { knowledgeUpload } from './knowledge-upload/workflow.js';
export { connectorLoad } from './connector-load/workflow.js';
