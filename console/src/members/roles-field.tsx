import { CheckField } from '../field.js';
import { rankOf, roles, roleText, useRole, type Role } from '../roles.js';

export const rolesSay =
  'Several roles add up. With owner or org admin, all of them apply to all projects of the organization.';

/** Offers the roles that the person has or may give. */
export function RolesField({ chosen, onChange }: { chosen: readonly Role[]; onChange: (roles: Role[]) => void }) {
  const ownRole = useRole();
  return (
    <fieldset>
      <legend>Roles</legend>
      {roles
        .filter((each) => rankOf(each) <= rankOf(ownRole))
        .map((each) => (
          <CheckField
            key={each}
            label={roleText(each)}
            isChecked={chosen.includes(each)}
            onChange={(isChosen) =>
              onChange(roles.filter((role) => (role === each ? isChosen : chosen.includes(role))))
            }
          />
        ))}
    </fieldset>
  );
}
