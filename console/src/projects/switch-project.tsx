import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button, Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components';
import { call } from '../api.js';
import menuStyles from '../menu.module.css';
import { consolePath, projectId, useMay, useSession } from '../session.js';
import { NewProject } from './new-project.js';
import styles from './switch-project.module.css';

const shownAtMost = 20;
const pathOf = (id: string) => `${consolePath}/projects/${encodeURIComponent(id)}`;

/** A menu of the projects, with a way to all of them and to a new one. */
export function SwitchProject() {
  const may = useMay();
  const roles = useSession().session.project?.roles ?? [];
  const mayCreate = may('post /v1/project') && roles.some((role) => role === 'OWNER' || role === 'ORG_ADMIN');
  const [isOpen, setOpen] = useState(false);
  const [isNew, setNew] = useState(false);
  const { data } = useQuery({
    queryKey: ['projects', 'menu'],
    queryFn: () => call('get', '/v1/project', { query: { limit: shownAtMost } }),
    enabled: isOpen && may('get /v1/project'),
  });
  const others = (data?.data ?? []).filter(({ _id }) => _id !== projectId);
  return (
    <>
      <MenuTrigger isOpen={isOpen} onOpenChange={setOpen}>
        <Button className={styles.switch ?? ''}>
          Projects <span aria-hidden="true">▾</span>
        </Button>
        <Popover className={menuStyles.menu ?? ''} placement="bottom start">
          <Menu aria-label="Projects" onAction={(key) => key === 'new' && setNew(true)}>
            {others.map(({ _id, name }) => (
              <MenuItem key={_id} href={pathOf(_id)} textValue={name} className={menuStyles.item ?? ''}>
                <bdi>{name}</bdi>
              </MenuItem>
            ))}
            <MenuItem id="all" href={consolePath} className={menuStyles.item ?? ''}>
              All projects
            </MenuItem>
            {mayCreate && (
              <MenuItem id="new" className={menuStyles.item ?? ''}>
                New project…
              </MenuItem>
            )}
          </Menu>
        </Popover>
      </MenuTrigger>
      {isNew && <NewProject onClose={() => setNew(false)} onDone={(id) => location.assign(pathOf(id))} />}
    </>
  );
}
