export { agentflowExecution } from './agentflow-execution/workflow.js';
