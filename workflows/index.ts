export { agentflowExecution } from './agentflow-execution/workflow.js';
export { approval } from './approval/workflow.js';
