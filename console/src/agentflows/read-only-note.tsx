import messageStyles from '../styles/message.module.css';

/** Says why a person cannot change an agentflow. */
export function ReadOnlyNote() {
  return (
    <p className={messageStyles.note}>
      You can read this agentflow, but not change it. That requires the role EDITOR or an administrator role.
    </p>
  );
}
