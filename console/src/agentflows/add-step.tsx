import { Button, Menu, MenuItem, MenuTrigger, Popover, Text } from 'react-aria-components';
import { stepKinds, stepTypes, type StepType } from './step-fields.js';
import textStyles from '../styles/text.module.css';
import menuStyles from '../menu.module.css';

/** A button that opens the types of steps. */
export function AddStep({ onAdd }: { onAdd: (type: StepType) => void }) {
  return (
    <MenuTrigger>
      <Button>Add step…</Button>
      <Popover className={menuStyles.menu ?? ''} placement="bottom start">
        <Menu aria-label="Types of steps" onAction={(type) => onAdd(type as StepType)}>
          {stepTypes.map((type) => (
            <MenuItem key={type} id={type} textValue={stepKinds[type].name} className={menuStyles.item ?? ''}>
              <Text slot="label">
                <strong>{stepKinds[type].name}</strong> <span className={textStyles.soft}>{stepKinds[type].about}</span>
              </Text>
            </MenuItem>
          ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
