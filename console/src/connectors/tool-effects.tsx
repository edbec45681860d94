import type { McpTool } from '../api.js';
import { fieldsOf } from '../fields-of.js';
import textStyles from '../styles/text.module.css';

/** What the server says that the tool does. Without a word, the service expects the worse. */
export function ToolEffects({ tool: { live, pinned } }: { tool: McpTool }) {
  const { readOnlyHint, destructiveHint, openWorldHint } = fieldsOf(fieldsOf(live ?? pinned).annotations);
  return (
    <p>
      {readOnlyHint === true ? 'Only reads' : 'Changes things'}
      {readOnlyHint !== true && destructiveHint !== false && (
        <strong className={textStyles.bad}>, can delete or overwrite</strong>
      )}
      {openWorldHint !== false && ', reaches other systems'}
      <span className={textStyles.soft}> (as the server says)</span>
    </p>
  );
}
