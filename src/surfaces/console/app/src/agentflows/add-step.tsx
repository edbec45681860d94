import { Button, Menu, MenuItem, MenuTrigger, Popover, Text } from 'react-aria-components';
import { stepKinds, stepTypes, type StepType } from './step-fields.js';

/** A button that opens the types of steps. */
export function AddStep({ onAdd }: { onAdd: (type: StepType) => void }) {
  return (
    <MenuTrigger>
      <Button>Add step…</Button>
      <Popover className="menu" placement="bottom start">
        <Menu aria-label="Types of steps" onAction={(type) => onAdd(type as StepType)}>
          {stepTypes.map((type) => (
            <MenuItem key={type} id={type} textValue={stepKinds[type].name}>
              <Text slot="label">
                <strong>{stepKinds[type].name}</strong> <span className="soft">{stepKinds[type].about}</span>
              </Text>
            </MenuItem>
          ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
