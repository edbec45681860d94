import type { ReactNode } from 'react';
import { Tab, TabList, TabPanel, Tabs } from 'react-aria-components';
import styles from './views.module.css';

interface ViewsOptions<Id extends string> {
  /** The accessible name of the choice. */
  label: string;
  /** The name of each view by its id. */
  names: Readonly<Partial<Record<Id, string>>>;
  selected: Id;
  onSelect: (id: Id) => void;
  /** Renders the selected view. */
  children: (selected: Id) => ReactNode;
}

/** Views of the same thing as tabs, of which one is shown. Arrow keys choose the next one. */
export function Views<Id extends string>({ label, names, selected, onSelect, children }: ViewsOptions<Id>) {
  const ids = Object.keys(names) as Id[];
  if (ids.length === 1) return children(selected);
  return (
    <Tabs selectedKey={selected} onSelectionChange={(key) => onSelect(key as Id)}>
      <TabList aria-label={label} className={styles.views ?? ''}>
        {ids.map((id) => (
          <Tab key={id} id={id} className={styles.view ?? ''}>
            {names[id]}
          </Tab>
        ))}
      </TabList>
      {/* A panel keeps its first id. */}
      <TabPanel key={selected} id={selected} className={styles.content ?? ''}>
        {children(selected)}
      </TabPanel>
    </Tabs>
  );
}
